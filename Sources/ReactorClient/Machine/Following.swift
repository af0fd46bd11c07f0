import ReactorBytes
import ReactorCore
import ReactorThreads

/// The slices that a client follows: the sinks that take their updates, and the state of each
/// slice.
///
/// It checks updates as they arrive, reads them into their sinks once they are complete, and makes
/// them visible. Work that may call a program is collected in ``Effects``, which the caller takes
/// and runs.
///
/// *Place*: a part of ``ClientMachine``; ``Inbound`` says which bytes are complete.
struct Following: ~Copyable {
    /// Subscriptions by the numbers of their slices on this connection.
    private var slices: [UInt32: Subscription] = [:]
    private var subscriptions: [Subscription] = []
    /// Sinks with staged updates.
    private var touched: [any SliceSink] = []
    /// Subscriptions whose first or next whole value is staged.
    private var arrived: [Subscription] = []
    private var effects = Effects()
    private var inquiries = TypeInquiries()
    /// Longest body of a frame from the daemon, in bytes.
    private let frameBytesMax: Int
    /// Maximum bytes of a value that comes in parts; a longer value is the daemon's fault.
    private let partBytesMax: Int

    init(frameBytesMax: Int, partBytesMax: Int) {
        self.frameBytesMax = frameBytesMax
        self.partBytesMax = partBytesMax
    }

    var isEmpty: Bool { subscriptions.isEmpty && inquiries.isEmpty }
    /// True while a slice that was live is not current: mirrors advance together or not at all.
    var isCatchingUp: Bool { inquiries.isHolding || subscriptions.contains(where: \.isCatchingUp) }
    /// True if a slice shows a state that a new connection has to bring up to date.
    var wasLive: Bool { inquiries.isHolding || subscriptions.contains { $0.wasLive } }

    mutating func takeEffects() -> Effects {
        defer { if !effects.isEmpty { effects = Effects() } }
        return effects
    }

    func contains(_ subscription: Subscription) -> Bool {
        subscriptions.contains { $0 === subscription }
    }

    /// The first sink of a slice that `find` accepts.
    func first<Found>(
        at path: String? = nil, _ find: (any SliceSink) -> Found?
    ) -> (subscription: Subscription, found: Found)? {
        for subscription in subscriptions where path == nil || subscription.path == path {
            for sink in subscription.sinks {
                if let found = find(sink) { return (subscription, found) }
            }
        }
        return nil
    }

    /// The first sink at `path` that `find` accepts, of those that follow a slice or wait for
    /// types.
    func sink<Found>(at path: String, _ find: (any SliceSink) -> Found?) -> Found? {
        first(at: path, find)?.found ?? inquiries.sinks(at: path).lazy.compactMap(find).first
    }
}

// MARK: - Following and leaving
extension Following {
    /// Starts to follow the slice at `path`, a canonical path, for `sink`, which shows a state
    /// already if `wasLive` is true.
    mutating func follow(
        _ path: String, _ mode: SubscriptionMode, _ sink: any SliceSink,
        selecting selection: Selection? = nil, wasLive: Bool = false
    ) {
        defer { invariants() }
        let known = subscriptions.first { $0.isSlice(path, mode, selection) }
        let subscription = known ?? Subscription(path: path, mode: mode, selection)
        if known == nil { subscriptions.append(subscription) }
        subscription.join(sink)
        if wasLive { subscription.hold() }
        sink.setMode(mode)
        want(subscription)
    }

    /// Requests a slice, or the types that its sinks need before.
    private mutating func want(_ subscription: Subscription) {
        if !subscription.needsTypes {
            effects.wanted.append(subscription)
        } else if inquiries.ask(subscription.path) {
            effects.asked.append(subscription.path)
        }
    }

    /// Removes a sink; a slice without sinks ends.
    mutating func leave(_ sink: any SliceSink) {
        touched.removeAll { $0 === sink }
        inquiries.leave(sink)
        for subscription in subscriptions {
            guard subscription.leave(sink), subscription.sinks.isEmpty else { continue }
            remove(subscription, because: nil)
        }
    }

    /// Removes the sinks whose mirrors and watches have been released.
    mutating func leaveReleased() {
        for subscription in subscriptions {
            for sink in subscription.sinks where sink.isReleased { leave(sink) }
        }
        for sink in inquiries.sinks where sink.isReleased { leave(sink) }
    }

    /// Ends a subscription; its sinks receive `error`, if there is one.
    mutating func remove(_ subscription: Subscription, because error: ClientError?) {
        defer { invariants() }
        subscriptions.removeAll { $0 === subscription }
        if let id = subscription.sliceID, slices[id] === subscription {
            slices[id] = nil
            effects.unsubscribed.append(id)
        }
        for sink in subscription.close() {
            touched.removeAll { $0 === sink }
            sink.discard()
            if let error { effects.ended.append((sink, error)) }
        }
    }

    /// Ends the subscriptions at the paths that `isMeant` accepts.
    mutating func removeAll(because error: ClientError, where isMeant: (String) -> Bool) {
        for subscription in subscriptions where isMeant(subscription.path) {
            remove(subscription, because: error)
        }
        effects.ended += inquiries.dismiss(where: isMeant).map { ($0.sink, error) }
    }

    /// Restarts a slice with a snapshot; returns false if a snapshot was requested already.
    mutating func restart(_ subscription: Subscription) -> Bool {
        guard !subscription.needsSnapshot else { return false }
        subscription.requireSnapshot()
        want(subscription)
        return true
    }

    // MARK: Types

    /// Learns the daemon's types at `path` for `sink`, which then follows the slice.
    mutating func inquire(_ path: String, _ sink: any SliceSink, wasLive: Bool = false) {
        inquiries.enqueue(sink, at: path, wasLive: wasLive)
        if inquiries.ask(path) { effects.asked.append(path) }
    }

    /// Takes the daemon's types of the node at `path`, or its refusal: the sinks that need them
    /// follow the slice in the mode that the types allow, or end.
    mutating func learn(_ types: Result<NodeTypes, ClientError>, at path: String) {
        defer { invariants() }
        for slice in subscriptions where slice.path == path && slice.needsTypes {
            learn(types, for: slice)
        }
        for (sink, wasLive) in inquiries.conclude(path) {
            switch sink.judge(types, at: path) {
            case .refused(let error): effects.ended.append((sink, error))
            case .replica: follow(path, .replica, sink, wasLive: wasLive)
            case .value:
                follow(path, .value, sink, selecting: sink.selection, wasLive: wasLive)
            }
        }
    }

    private mutating func learn(
        _ types: Result<NodeTypes, ClientError>, for subscription: Subscription
    ) {
        for sink in subscription.sinks where sink.needsTypes {
            switch sink.judge(types, at: subscription.path) {
            case .refused(let error): end(sink, error)
            case .replica:
                let wasLive = subscription.wasLive
                leave(sink)
                follow(subscription.path, .replica, sink, wasLive: wasLive)
            // The daemon may call a value unchanged that has other fields than the sink's type had.
            case .value(let isChanged): if isChanged { subscription.requireSnapshot() }
            }
        }
        if contains(subscription) { want(subscription) }
    }

    // MARK: Connections
    /// On a new connection, requests the slices at the paths that `isMeant` accepts.
    mutating func resubscribe(where isMeant: (String) -> Bool) {
        inquiries.suspend()
        subscribeUnnumbered(where: isMeant)
    }

    /// Requests the slices that have no number yet, at the paths that `isMeant` accepts.
    mutating func subscribeUnnumbered(where isMeant: (String) -> Bool) {
        for slice in subscriptions where slice.sliceID == nil && isMeant(slice.path) { want(slice) }
        effects.asked += inquiries.askAll(where: isMeant)
    }

    /// Stops waiting for the slices at the paths that `isMeant` accepts: they may never become
    /// current.
    mutating func release(where isMeant: (String) -> Bool) {
        for slice in subscriptions where isMeant(slice.path) { slice.stopWaiting() }
        inquiries.stopHolding(where: isMeant)
    }

    /// Handles a lost connection: drops incomplete updates. Returns the sinks.
    mutating func suspend() -> [any SliceSink] {
        defer { invariants() }
        slices = [:]
        touched.removeAll()
        arrived.removeAll()
        inquiries.suspend()
        effects.unsubscribed = []
        effects.asked = []
        effects.wanted = []
        for subscription in subscriptions { subscription.suspend() }
        return subscriptions.flatMap(\.sinks)
    }

    /// The sinks of slices that were live and are current again.
    var liveSinks: [any SliceSink] { subscriptions.filter(\.wasLive).flatMap(\.sinks) }

    /// Handles a lag: the daemon dropped updates, and a snapshot of each slice follows.
    mutating func lag() {
        defer { invariants() }
        for subscription in subscriptions where subscription.sliceID != nil { subscription.lag() }
        touched.removeAll()
        arrived.removeAll()
    }

    /// Handles the end of a slice whose node is gone; returns its path.
    mutating func end(_ id: UInt32) -> String? {
        guard let subscription = slices.removeValue(forKey: id) else { return nil }
        remove(subscription, because: .gone(path: subscription.path))
        return subscription.path
    }

    /// Handles a granted subscription. Returns true if mirrors that were live wait for it.
    ///
    /// `isLagging` says that updates were dropped since the last mark; `revision` is what mirrors
    /// show.
    mutating func grant(
        _ subscription: Subscription, _ id: UInt32, _ subscribed: Subscribed, isContinued: Bool,
        isLagging: Bool, at revision: Revision, epoch: UInt64
    ) throws(ClientFault) -> Bool {
        guard contains(subscription) else {
            // A later subscription to the same slice has the same number.
            let isWanted = subscriptions.contains {
                $0.isSlice(subscription.path, subscription.mode, subscription.selection)
            }
            if !isWanted { effects.unsubscribed.append(id) }
            return false
        }
        guard slices[id].map({ $0 === subscription }) ?? true else {
            throw ClientFault("slice \(id) has two subscriptions")
        }
        defer { invariants() }
        let isAwaited = try subscription.grant(
            id, subscribed.start, isContinued: isContinued, isLagging: isLagging, at: revision)
        slices[id] = subscription
        moveMismatched(subscription, subscribed)
        for sink in subscription.sinks { sink.granted(id, epoch: epoch) }
        return isAwaited
    }

    /// Ends one sink of a slice that others may follow.
    private mutating func end(_ sink: any SliceSink, _ error: ClientError) {
        leave(sink)
        sink.discard()
        effects.ended.append((sink, error))
    }

    /// Makes mirrors that cannot follow mutations learn the daemon's types: their types differ, or
    /// the daemon's value has more than the state.
    private mutating func moveMismatched(_ subscription: Subscription, _ subscribed: Subscribed) {
        guard subscription.mode == .replica else { return }
        let wasLive = subscription.wasLive
        for sink in subscription.sinks where !sink.fits(subscribed) {
            leave(sink)
            sink.discard()
            sink.setMode(.value)
            inquire(subscription.path, sink, wasLive: wasLive)
        }
    }

    // MARK: Updates as they arrive
    /// Checks the consecutive deltas from `first` on, and returns the start of the first other
    /// frame.
    ///
    /// Nearly all updates are consecutive deltas of one slice, so the slice is looked up once per
    /// run. An unexpected header is left to ``admit(_:_:)``, which reports the fault.
    mutating func admitDeltas(_ bytes: Span<UInt8>, from first: Int) -> Int {
        var offset = first
        var last: (id: UInt32, subscription: Subscription)?
        while let delta = PlainFrame(.delta, in: bytes, at: offset, frameBytesMax: frameBytesMax) {
            if last?.id != delta.id {
                guard let found = slices[delta.id], found.takesDeltas else { break }
                last = (delta.id, found)
            }
            guard let subscription = last?.subscription, subscription.admitDelta(delta.number)
            else { break }
            offset = delta.range.upperBound
        }
        return offset
    }

    /// Checks the header of an update; returns false if its slice is no longer followed.
    mutating func admit(_ kind: FrameKind, _ header: FrameHeader) throws(ClientFault) -> Bool {
        guard let subscription = slices[header.id] else { return false }
        try subscription.admit(kind, header)
        return true
    }

    // MARK: Updates once they are complete
    /// Reads the update frames in `range` into their sinks, and skips all other frames. `mark` is
    /// the highest sequence that they may have; `own` is present while mirrors preview actions.
    mutating func stage(
        _ bytes: Span<UInt8>, _ range: Range<Int>, upTo mark: UInt64, _ own: OwnActions?
    ) throws(ClientFault) {
        defer { invariants() }
        var offset = range.lowerBound
        while offset < range.upperBound {
            offset = try stageDeltas(bytes, offset..<range.upperBound, upTo: mark, own)
            if offset >= range.upperBound { return }
            guard
                let header = try? FrameHeader.decode(
                    bytes, at: offset, frameBytesMax: frameBytesMax)
            else { return }
            let start = offset + FrameHeader.byteCount
            let end = start + Int(header.length)
            switch FrameKind(rawValue: header.kind) {
            case .delta, .snapshot, .value:
                if let subscription = slices[header.id] {
                    let body = bytes.extracting(start..<end)
                    try stage(header, body, of: subscription, upTo: mark, own)
                }
            default: break
            }
            offset = end
        }
    }

    /// Reads the consecutive deltas from the start of `range`, and returns the start of the next
    /// frame.
    private mutating func stageDeltas(
        _ bytes: Span<UInt8>, _ range: Range<Int>, upTo mark: UInt64, _ own: OwnActions?
    ) throws(ClientFault) -> Int {
        var offset = range.lowerBound
        var last: (id: UInt32, subscription: Subscription)?
        var sinks: [any SliceSink] = []
        while offset < range.upperBound,
            let delta = PlainFrame(.delta, in: bytes, at: offset, frameBytesMax: frameBytesMax)
        {
            if last?.id != delta.id {
                guard let found = slices[delta.id] else { break }
                last = (delta.id, found)
                sinks = found.sinks
                for sink in sinks { touch(sink) }
            }
            guard let subscription = last?.subscription, delta.number <= mark else { break }
            subscription.reach(delta.number)
            do throws(WireError) {
                let body = bytes.extracting(delta.range)
                try Self.stage(delta: body, in: sinks, own)
                subscription.acceptUpdate()
            } catch {
                try giveUp(subscription, error)
                // The subscription has ended, and no sink takes the rest of its deltas.
                last = nil
            }
            offset = delta.range.upperBound
        }
        return offset
    }

    private static func stage(
        delta body: Span<UInt8>, in sinks: [any SliceSink], _ own: OwnActions?
    ) throws(WireError) {
        var cursor = WireCursor()
        try Origin.skip(body, &cursor)
        var index = 0
        while index < sinks.count {
            try sinks[index].stage(delta: body, from: cursor.offset)
            index &+= 1
        }
        guard let own else { return }
        cursor = WireCursor()
        let ordinal = own.contained(in: try Origin.decode(body, &cursor))
        for sink in sinks { sink.containsOwn(upTo: ordinal) }
    }

    private mutating func stage(
        _ header: FrameHeader, _ body: Span<UInt8>, of subscription: Subscription,
        upTo mark: UInt64, _ own: OwnActions?
    ) throws(ClientFault) {
        guard header.number <= mark else {
            throw ClientFault("an update \(header.number) before mark \(mark)")
        }
        subscription.reach(header.number)
        if header.kind == FrameKind.delta.rawValue {
            // The update adds or removes children, which the state of a mirror does not show.
            if header.flags.contains(.structural) { return }
            for sink in subscription.sinks { touch(sink) }
            do throws(WireError) {
                try Self.stage(delta: body, in: subscription.sinks, own)
                subscription.acceptUpdate()
            } catch {
                try giveUp(subscription, error)
            }
        } else if header.flags.contains(.more) || subscription.hasParts {
            let isLast = !header.flags.contains(.more)
            let whole = try subscription.append(body, isLast: isLast, byteCountMax: partBytesMax)
            if let whole { try stage(value: header, whole.span, of: subscription, own) }
        } else {
            try stage(value: header, body, of: subscription, own)
        }
    }

    private mutating func stage(
        value header: FrameHeader, _ body: Span<UInt8>, of subscription: Subscription,
        _ own: OwnActions?
    ) throws(ClientFault) {
        let isPatch = header.flags.contains(.patch)
        // A patch does not serve a sink that has just joined: that sink still needs a value.
        if !isPatch { arrived.append(subscription) }
        for sink in subscription.sinks {
            do throws(WireError) {
                if isPatch {
                    try sink.stage(patch: body, sequence: header.number)
                    subscription.acceptUpdate()
                } else {
                    try sink.stage(
                        value: body, isAbsent: header.flags.contains(.absent),
                        sequence: header.number)
                }
                if let own { sink.containsOwn(upTo: own.processed) }
                touch(sink)
            } catch {
                // A replica has the daemon's types, so the bytes are at fault.
                guard subscription.mode == .value, !isPatch || sink.isMismatched else {
                    return try giveUp(subscription, error)
                }
                end(sink, sink.explain(error, at: subscription.path))
            }
        }
    }

    private mutating func touch(_ sink: any SliceSink) {
        if !(touched.last.map { $0 === sink } ?? false), !touched.contains(where: { $0 === sink }) {
            touched.append(sink)
        }
    }

    /// Handles an update that cannot be read: requests a snapshot on a new connection or, if that
    /// has failed before, ends the subscription.
    private mutating func giveUp(
        _ subscription: Subscription, _ error: WireError
    ) throws(ClientFault) {
        guard subscription.rejectUpdate() else {
            return remove(
                subscription, because: .incompatible(path: subscription.path, error))
        }
        throw ClientFault("update of \(subscription.path): \(error)")
    }

    /// Makes all staged updates visible, in all mirrors at once, as of `revision`; returns the
    /// sinks that must notify their observers.
    mutating func commit(_ revision: Revision, to shared: SharedState) -> [any SliceSink] {
        defer { invariants() }
        let sinks = touched
        touched.removeAll(keepingCapacity: true)
        shared.revision.withLock { shown in
            for sink in sinks { sink.commit(epoch: revision.epoch) }
            shown = revision
        }
        for subscription in arrived { subscription.becomeLive() }
        arrived.removeAll()
        return sinks
    }

    // MARK: Invariants
    /// Traps in a debug build unless every numbered slice has a subscription with at least one
    /// sink, and no two subscriptions follow the same slice in the same mode.
    private func invariants() {
        // Walking a long list at each verb would cost too much.
        assert(
            slices.count > 64
                || slices.allSatisfy { id, subscription in
                    subscription.sliceID == id && contains(subscription)
                }, "a slice has a number and is not followed")
        assert(subscriptions.allSatisfy { !$0.sinks.isEmpty }, "a slice is followed by no sink")
        assert(
            subscriptions.count > 64
                || subscriptions.enumerated().allSatisfy { index, known in
                    !subscriptions[..<index].contains {
                        $0.isSlice(known.path, known.mode, known.selection)
                    }
                }, "a slice is followed twice")
    }
}
