import ReactorBytes
import ReactorCore
import ReactorWire

/// Processes actions: runs of plain ones, actions with options, and batches.
///
///     offset = dispatcher.dispatchRun(bytes, from: offset, of: connection)
///     let frameCount = dispatcher.dispatch(header, body, of: connection)
///
/// A new action raises its session's ordinal. The tree runs it under the crash marker of
/// ``ActionWatch``, the ``Chronicle`` records it, and the ``OutcomeWriter`` concludes it. The plain
/// outcomes of a run are remembered as one run. An action that arrived before gets its first
/// outcome again.
///
/// *Place*: ``Intake`` passes it the action frames of connections that have a session. It handles
/// no other frames and reads from no connection. ``invariants()`` states the invariants.
final class Dispatcher {
    private let tree: Tree
    private var limits: ServerLimits
    private let orders: ShellOrders
    private let chronicle: Chronicle
    private let outcomes: OutcomeWriter
    private let delivery: Delivery
    private let releases: ForcedReleases
    private let conditions: ActionConditions
    /// Carries actions to the daemon that leads.
    let forwarder: Forwarder
    /// Counts the bytes of all states.
    let states: StateCeiling
    private let time: InputTime
    /// The marker of the action that is being carried out.
    private let watch: Cell<ActionWatch>
    /// Actions by node.
    private let nodeCounts = Cell(NodeCounts())
    /// By how many bytes states became smaller while nothing else was carried out.
    private(set) var shrunkByteCount = 0

    /// Marks actions in `watch`.
    init(
        _ tree: Tree, _ limits: ServerLimits, _ orders: ShellOrders, _ chronicle: Chronicle,
        _ outcomes: OutcomeWriter, _ delivery: Delivery, _ connections: ConnectionTable,
        _ states: StateCeiling, _ time: InputTime, _ forwarder: Forwarder,
        watching watch: ActionWatch
    ) {
        self.tree = tree
        self.limits = limits
        self.orders = orders
        self.chronicle = chronicle
        self.outcomes = outcomes
        self.delivery = delivery
        (self.states, self.time) = (states, time)
        self.forwarder = forwarder
        releases = ForcedReleases(tree, connections, orders)
        conditions = ActionConditions(tree: tree, orders: orders, chronicle: chronicle)
        self.watch = Cell(watch)
    }

    /// Applies other limits from here on.
    func setLimits(_ limits: ServerLimits) { self.limits = limits }

    /// The action during which the last run of the daemon died, if it did.
    var lastDeath: ActionWatch.Death? { watch.value.death }

    /// The actions by node since the start.
    var actionsByNode: NodeCounts { nodeCounts.value }

    /// How far the dispatcher has come.
    var progress: ActionProgress {
        ActionProgress(
            actionCount: orders.stats.actions, spanCount: nodeCounts.value.spanCount)
    }

    /// Whether the dispatcher runs every action, including those that make states larger.
    private var admitsAll: Bool {
        chronicle.admission == .all && !states.isMemoryFull && states.admitsGrowth
    }

    /// Runs only actions that make states smaller while `isMemoryFull` is true.
    func refuseGrowth(while isMemoryFull: Bool) { states.refuseGrowth(while: isMemoryFull) }

    /// The path of the node of the last action; nil if there is none, or it is gone.
    var lastPath: SlicePath? { tree.node(nodeCounts.value.lastNumber)?.path }

    /// Number of actions that are refused because the daemon ended while it ran them.
    var poisonedCount: Int { watch.value.poisonedCount }

    /// Checks the invariants, in debug builds.
    @inline(__always)
    private func invariants() {
        assert(!watch.value.isMarked, "an action is marked that is not being carried out")
        assert(shrunkByteCount >= 0, "states shrank by \(shrunkByteCount) bytes")
    }
}

// MARK: - Runs of plain actions
extension Dispatcher {
    /// Processes the consecutive plain actions from `first` on. Returns the offset of the first
    /// other frame.
    ///
    /// Nearly every frame is such an action: without options, with the next ordinal, to an open
    /// node. A run looks up once what its actions have in common. Other actions are left to
    /// ``dispatch(_:_:of:)``.
    func dispatchRun(_ bytes: Span<UInt8>, from first: Int, of connection: Connection) -> Int {
        guard let session = connection.session, admitsAll, mayWait(session),
            !watch.value.suspects(session)
        else { return first }
        var offset = first
        var run = AppliedRun(
            ordinal: session.ordinal &+ 1, sequence: tree.turn.sequence &+ 1, count: 0)
        let countMax = UInt64(delivery.window(of: connection))
        var stop = time.isMeasuring ? min(InputTime.actionsPerReading, countMax) : countMax
        var aliases: [NodeAlias] = []
        tree.begin(by: connection.caller)
        let page = watch.value.begin(session)
        var next = stop > 0 ? plainFrame(in: bytes, at: offset, after: run) : nil
        while let start = next, let node = connection.node(start.id) {
            if chronicle.keepsHistory {
                aliases.append(NodeAlias(id: start.id, node: node.number))
            }
            // The consecutive actions to one node.
            let former = run.count
            while let frame = next, frame.id == start.id {
                page?.mark(frame.number)
                let result = tree.step(node, bytes.extracting(frame.range), ordinal: frame.number)
                if let result {
                    let end = frame.range.upperBound
                    nodeCounts.value.add(run.count &- former &+ 1, to: node.number)
                    endRun(run, bytes.extracting(first..<offset), aliases, session, connection)
                    conclude(result, bytes.extracting(offset..<end), aliases, session, connection)
                    return end
                }
                offset = frame.range.upperBound
                run.count &+= 1
                next =
                    run.count < stop || goOn(beyond: &stop, countMax)
                    ? plainFrame(in: bytes, at: offset, after: run) : nil
            }
            nodeCounts.value.add(run.count &- former, to: node.number)
        }
        endRun(run, bytes.extracting(first..<offset), aliases, session, connection)
        return offset
    }

    /// The plain action at `offset`, if it continues `run`.
    @inline(__always)
    private func plainFrame(
        in bytes: Span<UInt8>, at offset: Int, after run: AppliedRun
    ) -> PlainFrame? {
        guard
            let frame = PlainFrame(
                .dispatch, in: bytes, at: offset, frameBytesMax: limits.frameBytesMax),
            // After the largest number, the ordinal would wrap to 0, which means none.
            frame.number == run.ordinal &+ run.count, frame.number > 0
        else { return nil }
        return frame
    }

    /// Whether a run goes on after `count` actions, at most up to `countMax`: its user has time left.
    private func goOn(beyond count: inout UInt64, _ countMax: UInt64) -> Bool {
        guard count < countMax, !time.isSpent else { return false }
        count = min(count &+ InputTime.actionsPerReading, countMax)
        return true
    }

    /// Ends a run of plain actions: remembers their outcomes and records their frames.
    private func endRun(
        _ run: AppliedRun, _ frames: Span<UInt8>, _ aliases: [NodeAlias], _ session: Session,
        _ connection: Connection
    ) {
        watch.value.end()
        invariants()
        guard run.count > 0 else { return }
        count(Int(run.count), byteCount: frames.count, of: connection)
        session.advance(to: run.last)
        session.remember(run, limits.outcomes)
        delivery.add(run, to: connection)
        if chronicle.keepsHistory {
            chronicle.record(run: run, aliases, frames, session, connection.caller)
        }
    }

    /// Counts the actions of a run.
    private func count(_ count: Int, byteCount: Int, of connection: Connection) {
        orders.stats.actions &+= UInt64(count)
        connection.inlet.value.advance(byteCount)
        delivery.countActions(count, byteCount: byteCount, of: connection)
    }

    /// Concludes the action that ended a run.
    private func conclude(
        _ result: DispatchResult, _ frame: Span<UInt8>, _ aliases: [NodeAlias],
        _ session: Session, _ connection: Connection
    ) {
        count(1, byteCount: frame.count, of: connection)
        session.advance(to: session.ordinal &+ 1)
        chronicle.record(
            arrivalOf: session.ordinal, aliases.suffix(1), frame, result, session,
            connection.caller)
        outcomes.conclude(result, of: session.ordinal, session, connection)
    }
}

// MARK: - Actions of the general way
extension Dispatcher {
    /// Processes one action and records its outcome. Returns the number of frames that its work
    /// counts as, for the connection's share of the turn.
    func dispatch(_ header: FrameHeader, _ body: Span<UInt8>, of connection: Connection) -> Int {
        guard let session = admit(header, body, of: connection) else { return 1 }
        var frameCount = 0
        let aliases = chronicle.keepsHistory ? aliases(header, body, of: connection) : []
        let result = watching(header.number, of: session) {
            carryOut(header, body, session, connection, &frameCount)
        }
        conclude(header, body, aliases, result, session, connection)
        return frameCount
    }

    /// Processes several actions as one transaction. Returns the same as ``dispatch(_:_:of:)``.
    func dispatchBatch(
        _ header: FrameHeader, _ body: Span<UInt8>, of connection: Connection
    ) -> Int {
        guard let session = admit(header, body, of: connection) else { return 1 }
        var frameCount = 0
        let aliases = chronicle.keepsHistory ? aliases(header, body, of: connection) : []
        let result = watching(header.number, of: session) {
            carryOutBatch(header, body, session, connection, &frameCount)
        }
        conclude(header, body, aliases, result, session, connection)
        return frameCount
    }

    /// Counts a new action and returns its session. For an action that arrived before, sends its
    /// outcome again and returns nil. While another daemon leads, passes a new one on, or refuses it,
    /// and returns nil.
    private func admit(
        _ header: FrameHeader, _ body: Span<UInt8>, of connection: Connection
    ) -> Session? {
        guard let session = connection.session else { return nil }
        guard header.number > session.ordinal, !chronicle.isFollowing else {
            if header.number > session.ordinal, forwarder.isEnabled {
                forwarder.take(
                    header, body, aliases(header, body, of: connection, isComplete: true), session,
                    connection, deaths: watch.value.deaths(of: header.number, session))
            } else {
                outcomes.repeatOutcome(header, session, to: connection)
            }
            return nil
        }
        session.advance(to: header.number)
        orders.stats.actions &+= 1
        delivery.countActions(
            1, byteCount: FrameHeader.byteCount + body.count, of: connection)
        return session
    }

    /// The nodes that an action or a batch names; with `isComplete`, also the numbers that name none.
    private func aliases(
        _ header: FrameHeader, _ body: Span<UInt8>, of connection: Connection,
        isComplete: Bool = false
    ) -> [NodeAlias] {
        if header.kind == FrameKind.batch.rawValue {
            return BatchBody.aliases(
                body, hasOptions: header.flags.contains(.options), of: connection,
                isComplete: isComplete)
        }
        let node = connection.openNode(header.id)?.number ?? (isComplete ? NodeAlias.noNode : nil)
        return node.map { [NodeAlias(id: header.id, node: $0)] } ?? []
    }

    /// Suspects that daemons have ended since they carried out an action: see ``ActionWatch``.
    func suspect(_ ordinal: UInt64, of session: Session, deaths: UInt64) {
        watch.value.suspect(ordinal, of: session, deaths: deaths)
    }

    private func conclude(
        _ header: FrameHeader, _ body: Span<UInt8>, _ aliases: [NodeAlias],
        _ result: DispatchResult, _ session: Session, _ connection: Connection
    ) {
        chronicle.record(
            arrival: header, body, aliases, result, session, connection.caller)
        outcomes.conclude(result, header, session, connection)
    }

    /// Runs an action under the crash marker, so that a restart knows which action was in progress.
    /// Refuses an action during which the daemon has ended several times.
    private func watching(
        _ ordinal: UInt64, of session: Session, _ carryOut: () -> DispatchResult
    ) -> DispatchResult {
        guard !watch.value.isPoisoned(ordinal, of: session) else {
            return .failed(
                .rejected(
                    Rejection(
                        .poisoned,
                        "the daemon ended \(ActionWatch.deathsMax) times while it ran this "
                            + "action: it is not tried again; `reactorctl log` shows it")))
        }
        watch.value.begin(session)?.mark(ordinal)
        let result = carryOut()
        watch.value.end()
        watch.value.acquit(ordinal, of: session)
        invariants()
        return result
    }

    /// Runs an action unless a condition or a limit forbids it.
    private func carryOut(
        _ header: FrameHeader, _ body: Span<UInt8>, _ session: Session, _ connection: Connection,
        _ frameCount: inout Int
    ) -> DispatchResult {
        if let refusal = quota(of: session, isAwaited: header.flags.contains(.awaited)) {
            return .failed(.rejected(refusal))
        }
        guard let node = connection.openNode(header.id) else {
            let rejection = Rejection(.notFound, "node \(header.id) is not open or is gone")
            return .failed(.rejected(rejection))
        }
        do throws(StepFailure) {
            let options = try ActionConditions.options(of: header, body)
            let offset = options?.byteCount ?? 0
            if let options, let release = options.value.release {
                return try releases.carryOut(
                    release, options.value, isAlone: offset == body.count, at: node,
                    header.number, of: connection)
            }
            if let guarded = connection.guarded[header.id],
                let refusal = guarded.refusal(of: body, at: offset)
            {
                orders.stats.countDenial(of: .act)
                throw .rejected(refusal)
            }
            nodeCounts.value.add(1, to: node.number)
            let mayWait = mayWait(session)
            let cancel = try options.flatMap { (options) throws(StepFailure) in
                try conditions.check(options.value, of: node, connection)
            }
            guard admitsAll else {
                let item = Tree.BatchItem(node: node, range: offset..<body.count)
                return shrink(
                    [item], body, header.number, cancel, connection, mayWait, &frameCount)
            }
            let (caller, ordinal) = (connection.caller, header.number)
            guard let cancel else {
                return tree.dispatch(
                    to: node, body, from: offset, by: caller, ordinal: ordinal, mayWait: mayWait)
            }
            return tree.dispatch(
                to: node, body, from: offset, by: caller, ordinal: ordinal, cancel: cancel,
                mayWait: mayWait)
        } catch {
            return .failed(error)
        }
    }

    private func carryOutBatch(
        _ header: FrameHeader, _ body: Span<UInt8>, _ session: Session, _ connection: Connection,
        _ frameCount: inout Int
    ) -> DispatchResult {
        do throws(StepFailure) {
            if let refusal = quota(of: session, isAwaited: header.flags.contains(.awaited)) {
                throw .rejected(refusal)
            }
            let options = try ActionConditions.options(of: header, body)
            guard options?.value.release == nil else { throw ForcedReleases.misplaced }
            let cancel = try options.flatMap { (options) throws(StepFailure) in
                try conditions.check(options.value, of: tree.root, connection)
            }
            let items = try batchItems(body, from: options?.byteCount ?? 0, of: connection)
            for item in items { nodeCounts.value.add(1, to: item.node.number) }
            connection.outlet.value.countBatch(of: items.count)
            guard admitsAll else {
                return shrink(
                    items, body, header.number, cancel, connection, mayWait(session), &frameCount)
            }
            return tree.transact(
                items, body, by: connection.caller, ordinal: header.number, cancel: cancel,
                mayWait: mayWait(session))
        } catch {
            return .failed(error)
        }
    }

    private func batchItems(
        _ body: Span<UInt8>, from offset: Int, of connection: Connection
    ) throws(StepFailure) -> [Tree.BatchItem] {
        let parts: [BatchBody.Part]
        do throws(WireError) {
            parts = try BatchBody.parts(body, from: offset, countMax: limits.batchActionsMax)
        } catch {
            throw .decode(error.inside("batch"))
        }
        var items: [Tree.BatchItem] = []
        for (index, part) in parts.enumerated() {
            guard let id = UInt32(exactly: part.id), let node = connection.openNode(id) else {
                let text = "node \(part.id) is not open or is gone"
                throw .rejected(Rejection(.notFound, text).inBatch(at: index))
            }
            if let guarded = connection.guarded[id],
                let refusal = guarded.refusal(of: body, at: part.range.lowerBound)
            {
                orders.stats.countDenial(of: .act)
                throw .rejected(refusal.inBatch(at: index))
            }
            items.append(Tree.BatchItem(node: node, range: part.range))
        }
        return items
    }
}

// MARK: - Conditions and quotas
extension Dispatcher {
    /// Whether a session's action may defer its answer. An action beyond the limit still runs, and
    /// is rejected only if it defers: otherwise no action could end the others' wait.
    private func mayWait(_ session: Session) -> Bool { !isFull(session, besides: 0) }

    /// Whether the session's actions that wait for answers, with `count` others, reach the limit.
    private func isFull(_ session: Session, besides count: Int) -> Bool {
        func isOver() -> Bool { session.deferred.count + count >= limits.inFlightMax }
        // An action of the same turn may have ended these waits.
        if isOver() { outcomes.resolve() }
        return isOver()
    }

    /// Why the session may not act now; nil if it may. `isAwaited` is true if the client waits for
    /// the end of the action's effects.
    private func quota(of session: Session, isAwaited: Bool) -> Rejection? {
        if chronicle.isReadOnly {
            return chronicle.admission.rejection(diskBytesMax: 0)
        }
        guard isAwaited, isFull(session, besides: session.awaitedCount) else { return nil }
        return Rejection(
            .quota,
            "inFlightMax \(limits.inFlightMax) actions wait for their answers or their effects")
    }
}

// MARK: - A full disk or memory
extension Dispatcher {
    /// Runs actions as one transaction if together they make the tree smaller. Weighing a large
    /// state delays other connections, so its work counts as frames.
    private func shrink(
        _ items: [Tree.BatchItem], _ body: Span<UInt8>, _ ordinal: UInt64, _ cancel: String?,
        _ connection: Connection, _ mayWait: Bool, _ frameCount: inout Int
    ) -> DispatchResult {
        let shrunk = tree.transactShrinking(
            items, body, by: connection.caller, ordinal: ordinal, cancel: cancel,
            mayWait: mayWait,
            else: lackOfSpace)
        frameCount = min(shrunk.workByteCount >> 14, limits.framesPerTurnMax)
        shrunkByteCount += shrunk.shrunkByteCount
        states.shrink(by: shrunk.shrunkByteCount)
        return shrunk.result
    }

    /// The rejection of an action that makes states larger.
    private var lackOfSpace: Rejection {
        guard chronicle.admission == .all else {
            return chronicle.admission.rejection(
                diskBytesMax: orders.stats.shell.diskBytesMax)
        }
        return states.rejection(memoryMax: states.isMemoryFull ? limits.memoryMax : nil)
    }
}
