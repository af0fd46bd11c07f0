import ReactorCore
import ReactorThreads

// MARK: - Following slices
extension ClientMachine {
    /// Has `sink` follow the slice at `path`.
    func follow(_ path: String, _ mode: SubscriptionMode, _ sink: any SliceSink) {
        if case .ended(let error) = stage { return sink.fail(error) }
        let path = Self.canonical(path)
        let known = subscriptions.first { $0.path == path && $0.mode == mode }
        let subscription = known ?? Subscription(path: path, mode: mode)
        if known == nil { subscriptions.append(subscription) }
        subscription.sinks.append(sink)
        sink.noteMode(mode)
        // because the newcomer has nothing yet: all get a snapshot
        subscription.needsSnapshot = true
        if stage == .live { send(subscription) }
    }

    /// Ends `sink`'s following; the daemon is told when it was the slice's last.
    func leave(_ sink: any SliceSink) {
        touched.removeAll { $0 === sink }
        for subscription in subscriptions {
            guard let index = subscription.sinks.firstIndex(where: { $0 === sink }) else {
                continue
            }
            subscription.sinks.remove(at: index)
            if subscription.sinks.isEmpty { remove(subscription, because: nil) }
        }
    }

    /// Ends the following of all that nobody holds any more.
    func leaveReleased() {
        guard board.released.take() else { return }
        for subscription in subscriptions {
            for sink in subscription.sinks where sink.isReleased { leave(sink) }
        }
        // because outcomes may have waited for the slices of those; only a live connection has some
        if window > 0 { settle() }
    }

    func send(_ subscription: Subscription) {
        let isKnown = subscription.wasLive && !subscription.needsSnapshot
        let number = newRequest(.subscribe(subscription, isContinued: isKnown))
        let frame = outgoing.beginFrame(.subscribe, number: number)
        Subscribe(
            path: subscription.path, mode: subscription.mode, from: isKnown ? revision : nil,
            patches: subscription.mode == .value
                && subscription.sinks.allSatisfy { $0.takesPatches }
        ).encode(into: &outgoing)
        outgoing.endFrame(at: frame)
    }

    /// Ends a subscription and tells its sinks, if there is something to tell.
    func remove(_ subscription: Subscription, because error: ClientError?) {
        subscriptions.removeAll { $0 === subscription }
        if let id = subscription.sliceID, slices[id] === subscription {
            slices[id] = nil
            if stage == .live { outgoing.header(FrameHeader(kind: .unsubscribe, id: id)) }
        }
        subscription.sliceID = nil
        let sinks = subscription.sinks
        subscription.sinks = []
        for sink in sinks {
            touched.removeAll { $0 === sink }
            sink.discard()
            if let error { sink.fail(error) }
        }
    }

    /// Subscribes on a new connection to what was followed on the last.
    func resubscribe() {
        isResyncing = subscriptions.contains { $0.wasLive }
        for subscription in subscriptions where !isUnleased(subscription.path) {
            send(subscription)
        }
    }

    /// The connection is lost: what was not complete is dropped.
    func suspendSlices() {
        staged = []
        stagedStart = nil
        isLagging = false
        slices = [:]
        touched.removeAll()
        arrived.removeAll()
        for subscription in subscriptions {
            subscription.sliceID = nil
            subscription.state = .asked
            subscription.parts = []
            for sink in subscription.sinks {
                sink.discard()
                sink.setLive(false)
            }
        }
        isResyncing = subscriptions.contains { $0.wasLive }
    }

    func failSlices(_ error: ClientError) {
        staged = []
        for subscription in subscriptions { remove(subscription, because: error) }
    }

    /// Whether a slice that was live is not up to date.
    var isCatchingUp: Bool { subscriptions.contains { $0.wasLive && $0.state != .current } }

    /// Whether updates wait for a mark.
    var hasStaged: Bool { !staged.isEmpty || stagedStart != nil }

    /// Everything that was live before is up to date again.
    func endResync() {
        isResyncing = false
        for subscription in subscriptions where subscription.wasLive {
            for sink in subscription.sinks { sink.setLive(true) }
        }
    }
}

// MARK: - What the daemon says about slices
extension ClientMachine {
    /// A subscription was granted.
    func noteSubscribed(
        _ subscription: Subscription, isContinued: Bool, _ header: FrameHeader,
        _ body: Span<UInt8>
    ) throws(ClientFault) {
        let subscribed: Subscribed
        do throws(WireError) {
            subscribed = try Subscribed(wireBytes: body)
        } catch {
            throw ClientFault("subscribed: \(error)")
        }
        guard subscriptions.contains(where: { $0 === subscription }) else {
            // because the slice has the same number for who follows it anew meanwhile
            let isWanted = subscriptions.contains {
                $0.path == subscription.path && $0.mode == subscription.mode
            }
            if !isWanted { outgoing.header(FrameHeader(kind: .unsubscribe, id: header.id)) }
            return
        }
        guard slices[header.id].map({ $0 === subscription }) ?? true else {
            throw ClientFault("slice \(header.id) stands for two subscriptions")
        }
        slices[header.id] = subscription
        subscription.sliceID = header.id
        subscription.parts = []
        switch subscribed.start {
        case .snapshot:
            subscription.state = .awaiting
            subscription.floor = 0
            subscription.last = 0
            if subscription.wasLive { isResyncing = true }
        case .unchanged, .deltas:
            // because a newcomer's wish for a snapshot may be behind the one that is answered
            guard isContinued else {
                throw ClientFault("subscribed without a snapshot to a slice that needs one")
            }
            // because the deltas that the daemon meant are among what it dropped
            subscription.state = isLagging ? .awaiting : .current
            subscription.floor = revision.sequence
            subscription.last = revision.sequence
        }
        moveMismatched(subscription, subscribed)
        for sink in subscription.sinks {
            sink.granted(header.id, of: subscribed.reactor, epoch: welcome?.epoch ?? 0)
        }
    }

    /// Moves mirrors to value mode that cannot show what the daemon shows otherwise: their types
    /// differ from its, or it shows more than the state says.
    private func moveMismatched(_ subscription: Subscription, _ subscribed: Subscribed) {
        guard subscription.mode == .replica else { return }
        let strangers = subscription.sinks.filter {
            subscribed.byValue || $0.fingerprint != subscribed.fingerprint
        }
        for sink in strangers {
            leave(sink)
            sink.discard()
            follow(subscription.path, .value, sink)
        }
    }

    /// An update arrived: it is looked at from outside, and waits for the mark.
    func noteUpdate(
        _ kind: FrameKind, _ header: FrameHeader, at bodyStart: Int
    ) throws(ClientFault) {
        // because updates of a slice that was left may still be under way
        guard let subscription = slices[header.id] else { return }
        let isReplica = subscription.mode == .replica
        if kind == .delta {
            guard isReplica, subscription.state == .current,
                header.number > subscription.floor, header.number >= subscription.last
            else {
                subscription.needsSnapshot = true
                throw ClientFault(
                    "delta \(header.number) of \(subscription.path) after \(subscription.last)")
            }
        } else {
            guard isReplica == (kind == .snapshot), header.number >= subscription.last else {
                subscription.needsSnapshot = true
                throw ClientFault(
                    "\(kind) \(header.number) of \(subscription.path) after \(subscription.last)")
            }
            if !header.flags.contains(.more), subscription.state == .awaiting {
                subscription.state = .current
            }
        }
        subscription.last = header.number
        if stagedStart == nil { stagedStart = bodyStart - FrameHeader.byteCount }
    }

    /// What arrived up to here is complete.
    func noteMark(
        _ header: FrameHeader, _ bytes: Span<UInt8>, upTo bodyStart: Int
    ) throws(ClientFault) {
        guard header.number >= markSequence else {
            throw ClientFault("mark \(header.number) after mark \(markSequence)")
        }
        markSequence = header.number
        isLagging = false
        if isResyncing, isCatchingUp { return }
        if !staged.isEmpty {
            let whole = staged
            staged = []
            try stageAll(whole.span, 0..<whole.count)
        }
        if let start = stagedStart {
            stagedStart = nil
            try stageAll(bytes, start..<(bodyStart - FrameHeader.byteCount))
        }
        commit(header.number)
        if !checksumRequests.isEmpty { sumAnnounced() }
    }

    /// Updates were dropped; a snapshot of each slice follows.
    func noteLag() {
        staged = []
        stagedStart = nil
        for subscription in subscriptions where subscription.sliceID != nil {
            subscription.parts = []
            if subscription.state == .current { subscription.state = .awaiting }
            for sink in subscription.sinks { sink.discard() }
        }
        touched.removeAll()
        arrived.removeAll()
        isLagging = true
        isResyncing = true
    }

    func noteGone(_ id: UInt32) {
        guard let subscription = slices.removeValue(forKey: id) else { return }
        nodes.spoil(from: subscription.path)
        doubtLeases(from: subscription.path)
        remove(subscription, because: .gone(path: subscription.path))
    }
}

// MARK: - Making updates effective
extension ClientMachine {
    /// Reads the update frames in `range`, and leaves out all others.
    private func stageAll(_ bytes: Span<UInt8>, _ range: Range<Int>) throws(ClientFault) {
        var offset = range.lowerBound
        while offset < range.upperBound {
            offset = try stageDeltas(bytes, from: offset, upTo: range.upperBound)
            if offset >= range.upperBound { return }
            guard
                let header = try? FrameHeader.decode(
                    bytes, at: offset, frameBytesMax: options.frameBytesMax)
            else { return }
            let start = offset + FrameHeader.byteCount
            let end = start + Int(header.length)
            switch FrameKind(rawValue: header.kind) {
            case .delta, .snapshot, .value:
                if let subscription = slices[header.id] {
                    try stage(header, bytes.extracting(start..<end), of: subscription)
                }
            default: break
            }
            offset = end
        }
    }

    private func stage(
        _ header: FrameHeader, _ body: Span<UInt8>, of subscription: Subscription
    ) throws(ClientFault) {
        guard header.number <= markSequence else {
            throw ClientFault("an update \(header.number) before mark \(markSequence)")
        }
        subscription.floor = header.number
        if header.kind == FrameKind.delta.rawValue {
            // because children come and go without the state that a mirror shows
            if header.flags.contains(.structural) { return }
            do throws(WireError) {
                try stage(delta: body, of: subscription)
            } catch {
                try giveUp(subscription, error)
            }
        } else if header.flags.contains(.more) || !subscription.parts.isEmpty {
            try stage(part: header, body, of: subscription)
        } else {
            try stage(value: header, body, of: subscription)
        }
    }

    private func stage(
        delta body: Span<UInt8>, of subscription: Subscription
    ) throws(WireError) {
        var cursor = WireCursor()
        _ = try Origin.decode(body, &cursor)
        for sink in subscription.sinks {
            try sink.stage(delta: body, from: cursor.offset)
            touch(sink)
        }
        if previewCount > 0 { try noteOwn(body, in: subscription.sinks) }
        subscription.faultCount = 0
    }

    private func stage(
        part header: FrameHeader, _ body: Span<UInt8>, of subscription: Subscription
    ) throws(ClientFault) {
        guard subscription.parts.count + body.count <= options.stagedBytesMax else {
            subscription.needsSnapshot = true
            throw ClientFault(
                "a value of more than stagedBytesMax \(options.stagedBytesMax) at "
                    + subscription.path)
        }
        subscription.parts.append(contentsOf: body, 0..<body.count)
        guard !header.flags.contains(.more) else { return }
        let whole = subscription.parts
        subscription.parts = []
        try stage(value: header, whole.span, of: subscription)
    }

    private func stage(
        value header: FrameHeader, _ body: Span<UInt8>, of subscription: Subscription
    ) throws(ClientFault) {
        let isPatch = header.flags.contains(.patch)
        // because a patch is nothing to a sink that has just joined: that one needs a value still
        if !isPatch { arrived.append(subscription) }
        for sink in subscription.sinks {
            do throws(WireError) {
                if isPatch {
                    try sink.stage(patch: body, sequence: header.number)
                    subscription.faultCount = 0
                } else {
                    try sink.stage(
                        value: body, isAbsent: header.flags.contains(.absent),
                        sequence: header.number)
                }
                if previewCount > 0 { sink.noteOwn(upTo: processed) }
                touch(sink)
            } catch {
                // because a replica has the types that the daemon has: it was the bytes
                guard subscription.mode == .value, !isPatch else {
                    return try giveUp(subscription, error)
                }
                leave(sink)
                sink.discard()
                sink.fail(sink.explain(error, at: subscription.path))
            }
        }
    }

    func touch(_ sink: any SliceSink) {
        if !(touched.last.map { $0 === sink } ?? false), !touched.contains(where: { $0 === sink }) {
            touched.append(sink)
        }
    }

    /// A delta or snapshot could not be read: asks for a snapshot on a new connection, or, where
    /// that has not helped, ends the subscription.
    func giveUp(_ subscription: Subscription, _ error: WireError) throws(ClientFault) {
        subscription.faultCount += 1
        subscription.needsSnapshot = true
        guard subscription.faultCount < 3 else {
            return remove(
                subscription, because: .incompatible(path: subscription.path, error))
        }
        throw ClientFault("update of \(subscription.path): \(error)")
    }

    /// Shows everything that was staged, in all mirrors at once, and tells their observers.
    private func commit(_ sequence: UInt64) {
        let epoch = welcome?.epoch ?? 0
        let sinks = touched
        touched.removeAll(keepingCapacity: true)
        board.revision.withLock { revision in
            for sink in sinks { sink.commit(epoch: epoch) }
            revision = Revision(epoch: epoch, sequence: sequence)
        }
        for subscription in arrived {
            subscription.wasLive = true
            subscription.needsSnapshot = false
        }
        arrived.removeAll()
        attempts = 0
        for sink in sinks { sink.announce() }
        board.moved.publish()
        tellLostPast()
        if !checks.isEmpty { settleChecks() }
    }
}
