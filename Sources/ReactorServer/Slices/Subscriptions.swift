import ReactorBytes
import ReactorCore
import ReactorWire

/// Subscribes connections to slices. Clients that reconnect get what they missed from the ring of
/// recent deltas, from the journal, or as a snapshot.
///
/// A subscription whose client missed more than the ring has is parked until the journal has
/// answered. The number of parked subscriptions is limited, in all and for each user.
///
/// *Place*: the server passes it the frames that subscribe; ``SliceSharing`` sends followers the
/// changes. ``invariants()`` states the invariants.
final class Subscriptions {
    private let tree: Tree
    private let finder: NodeFinder
    private var limits: ServerLimits
    private let orders: ShellOrders
    private let chronicle: Chronicle
    private let delivery: Delivery
    private let sharing: SliceSharing
    /// Subscriptions of each user.
    private var counts = UserCounts()
    /// The deltas of the last turns.
    private let ring: DeltaRing
    /// The last sequence of earlier runs of the daemon.
    private let startSequence: UInt64
    /// Subscriptions that wait for the journal, by the questions that were asked for them.
    private var parked: [UInt64: ParkedRequest] = [:]
    private var lastQuestion: UInt64 = 0

    /// A subscription that waits for the journal.
    private struct ParkedRequest {
        var connection: Connection
        var header: FrameHeader
        var request: Subscribe
        /// The ring has the deltas after this sequence.
        var upTo: UInt64
    }

    /// The journal's answer for a parked subscription.
    private struct OlderDeltas {
        /// The frames, in order; nil if the journal does not have them all.
        var frames: [UInt8]?
        /// The last sequence of the frames.
        var upTo: UInt64
    }

    /// Starts with the deltas of `recovery`.
    init(
        _ recovery: Recovery, _ limits: ServerLimits, _ orders: ShellOrders,
        _ chronicle: Chronicle, _ delivery: Delivery, _ sharing: SliceSharing
    ) {
        tree = recovery.tree
        finder = NodeFinder(tree: recovery.tree, orders: orders)
        ring = recovery.ring
        startSequence = recovery.tree.turn.sequence
        self.limits = limits
        self.orders = orders
        self.chronicle = chronicle
        self.delivery = delivery
        self.sharing = sharing
    }

    /// Whether a connection gets the snapshots that it is owed, at the end of the turn.
    func canBePaid(_ connection: Connection) -> Bool { sharing.canBePaid(connection) }

    /// The slice of an id, if a connection follows it.
    func slice(_ id: UInt32) -> Slice? { sharing.slice(id) }

    /// Number of subscriptions of all connections.
    var count: Int { counts.total }

    /// Bytes of recent deltas.
    var ringByteCount: Int { ring.byteCount }

    /// Keeps a turn's deltas for clients that come back.
    func storeDeltas(_ deltas: Span<UInt8>, after start: UInt64) {
        ring.keep(after: start, sequence: tree.turn.sequence, deltas: deltas)
    }

    /// Forgets the recent deltas: another epoch has begun.
    func forgetDeltas() { ring.removeAll() }

    /// Drops what is kept for clients that subscribe or reconnect later; they get new snapshots.
    func dropCaches() {
        ring.removeAll()
        sharing.dropSnapshots()
    }

    /// Continues the question numbers of a former server, whose answers may still arrive.
    func succeed(_ former: Subscriptions) { lastQuestion = former.lastQuestion }

    /// Applies other limits from here on. Subscriptions that wait for the journal beyond the limit
    /// get a snapshot.
    func setLimits(_ limits: ServerLimits) {
        self.limits = limits
        sharing.setLimits(limits)
        ring.setLimits(bytesMax: limits.ringBytesMax, searchBytesMax: limits.resumeBytesMax)
        let excess = parked.keys.sorted().dropFirst(limits.parkedRequestsMax)
        for number in excess { answer(number, with: nil) }
    }

    /// Checks the invariants, in debug builds.
    @inline(__always)
    private func invariants() {
        assert(
            parked.count <= limits.parkedRequestsMax, "\(parked.count) subscriptions are parked")
        assert(counts.total > 0 || sharing.sliceCount == 0, "slices are followed by no connection")
    }
}

// MARK: - Subscribing
extension Subscriptions {
    /// Subscribes a connection as requested, or refuses the request.
    func subscribe(_ header: FrameHeader, _ body: Span<UInt8>, of connection: Connection) {
        let request: Subscribe
        do throws(WireError) {
            request = try Subscribe(wireBytes: body)
        } catch {
            return delivery.refuse(header, Refusal(.decode, "subscribe: \(error)"), of: connection)
        }
        do throws(Refusal) {
            try checkQuota(of: connection)
            let (node, field) = try finder.find(
                try finder.path(request.path), for: connection.access, to: .read)
            try check(request, node, field, for: connection.access)
            if parks(request, of: node, header, connection) { return }
            try follow(node, field, request, header, connection)
        } catch {
            delivery.refuse(header, error, of: connection)
        }
        invariants()
    }

    /// Checks that what a request names can be followed in its mode.
    private func check(
        _ request: Subscribe, _ node: AnyNode, _ field: ArraySlice<WireKey>,
        for access: AccessClass?
    ) throws(Refusal) {
        guard (request.mode == .selection) == (request.selection != nil) else {
            throw Refusal(.decode, "subscribe: a selection and the mode selection come together")
        }
        guard request.mode == .value || field.isEmpty || !node.isCollection else {
            let isWhole = access?.view(of: node) == nil
            throw finder.missing(request.path, node, field, isWhole: isWhole)
        }
        if let access, node.isCollection, request.mode != .value, access.view(of: node) != nil {
            let question = request.mode == .selection ? "a selection" : "a replica"
            orders.stats.countDenial(of: .read)
            throw Refusal(partial: question, at: node.path)
        }
        guard request.mode == .value || field.isEmpty else {
            let remedy =
                request.mode == .selection
                ? "select the children of a collection" : "subscribe to it in value mode"
            throw Refusal(.path, "\(request.path) is inside a state: \(remedy)")
        }
    }

    /// Continues a subscription of a former process to the slice that had `id` there. Returns the
    /// slice's node, or nil if the connection cannot have the same slice here.
    func inherit(
        _ id: UInt32, at path: SlicePath, _ field: [WireKey], _ mode: SubscriptionMode,
        _ selection: Selection?, _ subscription: Subscription, isView: Bool,
        of connection: Connection
    ) -> AnyNode? {
        let whole = SlicePath(path.components + field)
        guard
            let (node, rest) = try? finder.find(whole, for: connection.access, to: .read),
            Array(rest) == field, connection.subscriptions[id] == nil
        else { return nil }
        let isWhole = mode == .value && selection == nil
        let view = connection.access?.view(of: node)
        // What cannot leave out hidden children is not followed: see `check`.
        guard isWhole ? (view != nil) == isView : view == nil || !node.isCollection else {
            return nil
        }
        var bound: BoundSelection?
        if let selection {
            guard let found = try? BoundSelection(selection, of: node) else { return nil }
            bound = found
        }
        guard
            let slice = sharing.inherit(
                id, node, rest, mode, bound, isWhole ? view : nil, for: connection.peer.uid)
        else { return nil }
        slice.addFollower(connection)
        counts.count(1, of: connection.peer.uid)
        connection.subscriptions[id] = subscription
        if subscription.takesPatches { slice.expectPatches() }
        // Later changes count, not those of the replay.
        if slice.mode == .value { slice.settleChanges() }
        invariants()
        return node
    }

    /// The slice that a request names.
    private func slice(
        _ node: AnyNode, _ field: ArraySlice<WireKey>, _ request: Subscribe,
        _ connection: Connection
    ) throws(Refusal) -> Slice {
        guard let selection = request.selection else {
            if request.mode == .value, let view = connection.access?.view(of: node) {
                return sharing.slice(node, field, for: view)
            }
            return sharing.slice(node, field, request.mode)
        }
        return try sharing.slice(
            node, selecting: try BoundSelection(selection, of: node), for: connection.peer.uid)
    }

    private func checkQuota(of connection: Connection) throws(Refusal) {
        guard connection.subscriptions.count < limits.subscriptionsPerConnectionMax else {
            let count = limits.subscriptionsPerConnectionMax
            throw Refusal(.quota, "subscriptionsPerConnectionMax \(count) reached")
        }
        let uid = connection.peer.uid
        guard counts[uid] < limits.subscriptionsPerUIDMax else {
            let count = limits.subscriptionsPerUIDMax
            throw Refusal(.quota, "subscriptionsPerUIDMax \(count) reached by uid \(uid)")
        }
    }

    private func follow(
        _ node: AnyNode, _ field: ArraySlice<WireKey>, _ request: Subscribe,
        _ header: FrameHeader, _ connection: Connection, older: OlderDeltas? = nil
    ) throws(Refusal) {
        let slice = try slice(node, field, request, connection)
        chronicle.compare(request.from, of: connection.peer)
        if connection.subscriptions[slice.id] == nil {
            slice.addFollower(connection)
            counts.count(1, of: connection.peer.uid)
        }
        let (start, kept) = start(of: request, slice, connection, older)
        connection.subscriptions[slice.id] = Subscription(
            owing: debt(of: start, request.from), takesPatches: request.patches)
        if request.patches { slice.expectPatches() }
        if start == .snapshot { connection.outlet.value.fallBehind() }
        let subscribed = Subscribed(
            start: start, reactor: node.describedName, fingerprint: node.fingerprint,
            sequence: start == .snapshot ? tree.turn.sequence : request.from?.sequence ?? 0,
            byValue: node.isShownByValue)
        delivery.reply(to: connection) { writer in
            let frame = writer.beginFrame(.subscribed, id: slice.id, number: header.number)
            subscribed.encode(into: &writer)
            writer.endFrame(at: frame)
            // These precede the deltas of this turn, and follow "subscribed".
            writer.raw(kept)
        }
        connection.outlet.value.forgetMark()
    }

    /// The start of a subscription, and the deltas that its client missed.
    private func start(
        of request: Subscribe, _ slice: Slice, _ connection: Connection, _ older: OlderDeltas?
    ) -> (start: Subscribed.Start, kept: [UInt8]) {
        // The slices of a lagging connection move together, so it gets snapshots of all.
        guard let from = request.from, from.epoch == tree.turn.epoch,
            from.sequence <= tree.turn.sequence, connection.outlet.value.state != .lagging,
            // The last change of the node may be that of a hidden one.
            connection.access?.view(of: slice.node) == nil
        else { return (.snapshot, []) }
        let node = slice.node
        if node.sequence <= from.sequence, !mayDiffer(request, node, from.sequence) {
            return (.unchanged, [])
        }
        // The deltas of this node do not apply to the state of a former node at the same path.
        guard request.mode == .replica, slice.gapTurn != delivery.turn,
            node.birthSequence <= from.sequence,
            let frames = missedFrames(of: node, after: from.sequence, older)
        else { return (.snapshot, []) }
        return (.deltas, frames)
    }

    /// Whether a slice may differ from its value at `sequence` although no state of it has changed:
    /// an upgrade of the daemon may have another rule for a derived value that the slice shows.
    private func mayDiffer(_ request: Subscribe, _ node: AnyNode, _ sequence: UInt64) -> Bool {
        if node.isDerived { return true }
        return sequence <= startSequence && request.mode != .replica && node.showsDerived
    }

    /// The snapshot that a subscription with this start needs.
    private func debt(of start: Subscribed.Start, _ from: Revision?) -> Subscription.Debt {
        guard start == .snapshot else { return .none }
        let isFresh = from.map { $0.epoch != tree.turn.epoch || chronicle.isAhead($0) } ?? false
        return isFresh ? .freshSnapshot : .snapshot
    }
}

// MARK: - Leaving
extension Subscriptions {
    /// Ends one subscription of a connection.
    func unsubscribe(_ id: UInt32, of connection: Connection) {
        guard connection.subscriptions.removeValue(forKey: id) != nil else { return }
        sharing.leave(id, connection)
        counts.count(-1, of: connection.peer.uid)
        invariants()
    }

    /// Ends all subscriptions of a connection.
    func leave(_ connection: Connection) {
        for id in connection.subscriptions.keys { sharing.leave(id, connection) }
        counts.count(-connection.subscriptions.count, of: connection.peer.uid)
        connection.subscriptions.removeAll()
        invariants()
    }

    /// Ends the subscriptions that a connection would not get with the rights it has now, and
    /// informs its client.
    func reassess(_ connection: Connection) {
        for id in connection.subscriptions.keys.sorted() {
            guard let slice = sharing.slice(id), !isGranted(slice, to: connection.access) else {
                continue
            }
            unsubscribe(id, of: connection)
            delivery.reply(to: connection) { writer in
                writer.header(FrameHeader(kind: .gone, id: id, number: tree.turn.sequence))
            }
        }
    }

    /// Whether a class of callers gets this slice, or a slice with the same content.
    private func isGranted(_ slice: Slice, to access: AccessClass?) -> Bool {
        guard let access else { return slice.view == nil }
        let path = SlicePath(slice.node.path.components + slice.field)
        guard
            let (node, _) = try? finder.find(path, for: access, to: .read), node === slice.node
        else { return false }
        let isWhole = access.view(of: node) == nil
        if let view = slice.view { return view == access && !isWhole }
        return isWhole || slice.mode == .replica && !node.isCollection
    }

    /// Ends the subscriptions to a removed node, and informs their clients.
    func close(_ node: AnyNode) {
        for slice in sharing.slices(of: node) {
            let followers = slice.followers
            for connection in followers {
                connection.subscriptions[slice.id] = nil
                counts.count(-1, of: connection.peer.uid)
                delivery.reply(to: connection) { writer in
                    writer.header(
                        FrameHeader(kind: .gone, id: slice.id, number: tree.turn.sequence))
                }
            }
            for connection in followers { sharing.leave(slice.id, connection) }
        }
        invariants()
    }
}

// MARK: - Coming back from further than memory goes
extension Subscriptions {
    /// Parks a subscription whose client missed more than the ring has, and asks the journal.
    /// Returns whether it did.
    private func parks(
        _ request: Subscribe, of node: AnyNode, _ header: FrameHeader, _ connection: Connection
    ) -> Bool {
        let upTo = ring.start ?? chronicle.turnStart
        guard chronicle.keepsHistory, request.mode == .replica,
            connection.outlet.value.state != .lagging, connection.access?.view(of: node) == nil,
            let from = request.from, from.epoch == tree.turn.epoch,
            from.sequence < node.sequence, node.birthSequence <= from.sequence,
            from.sequence < upTo, hasRoomToPark(for: connection.peer.uid)
        else { return false }
        lastQuestion += 1
        parked[lastQuestion] = ParkedRequest(
            connection: connection, header: header, request: request, upTo: upTo)
        connection.requests.park()
        orders.append(
            .readHistory(
                HistoryQuestion(
                    number: lastQuestion, uid: connection.peer.uid, node: node.number,
                    epoch: from.epoch, after: from.sequence, upTo: upTo,
                    byteCountMax: limits.resumeBytesMax)))
        return true
    }

    /// Whether a further subscription of a user may wait: one user leaves half of the places to
    /// others.
    ///
    /// A connection that has ended keeps its places until the journal has answered: otherwise,
    /// clients that connect and disconnect could cause any number of questions.
    private func hasRoomToPark(for uid: UInt32) -> Bool {
        guard parked.count < limits.parkedRequestsMax else { return false }
        let own = parked.values.count { $0.connection.peer.uid == uid }
        return own < (limits.parkedRequestsMax + 1) / 2
    }

    /// Continues a parked subscription. The journal returned the frames that its client missed, or
    /// nil if it does not have all of them.
    func answer(_ number: UInt64, with frames: [UInt8]?) {
        guard let parked = parked.removeValue(forKey: number) else { return }
        let connection = parked.connection
        connection.requests.unpark()
        guard !connection.isLeaving else { return }
        // The node may have been removed since, and another created.
        do throws(Refusal) {
            let (node, field) = try finder.find(
                try finder.path(parked.request.path), for: connection.access, to: .read)
            try check(parked.request, node, field, for: connection.access)
            try follow(
                node, field, parked.request, parked.header, connection,
                older: OlderDeltas(frames: frames, upTo: parked.upTo))
        } catch {
            delivery.refuse(parked.header, error, of: connection)
        }
        invariants()
    }

    /// The frames of a node that a client missed, from the ring and the journal's answer.
    private func missedFrames(
        of node: AnyNode, after sequence: UInt64, _ older: OlderDeltas?
    ) -> [UInt8]? {
        let turnStart = chronicle.turnStart
        if let frames = ring.frames(of: node.number, after: sequence, upTo: turnStart) {
            return frames
        }
        guard let older, var frames = older.frames,
            let rest = ring.frames(of: node.number, after: older.upTo, upTo: turnStart)
        else { return nil }
        frames.append(contentsOf: rest)
        return frames.count <= limits.resumeBytesMax ? frames : nil
    }
}
