import ReactorCore
import ReactorWire

// MARK: - Paths
extension Server {
    /// The node and the field that a path leads to, or why there is none.
    func find(
        _ text: String
    ) -> Result<(node: AnyNode, field: ArraySlice<WireKey>), Refusal> {
        do throws(Refusal) {
            return find(try path(text))
        } catch {
            return .failure(error)
        }
    }

    /// The path that a client wrote.
    func path(_ text: String) throws(Refusal) -> SlicePath {
        do throws(SlicePathError) {
            return try SlicePath(text)
        } catch {
            throw Refusal(.path, error.description)
        }
    }

    /// The node and the field that a path leads to, or why there is none.
    func find(
        _ path: SlicePath
    ) -> Result<(node: AnyNode, field: ArraySlice<WireKey>), Refusal> {
        let (node, field) = tree.resolve(path)
        return node.allows(field)
            ? .success((node, field)) : .failure(notFound(path.description, node, field))
    }

    /// "No such path", with the nearest one beside it.
    func notFound(
        _ text: String, _ node: AnyNode, _ field: ArraySlice<WireKey>
    ) -> Refusal {
        // because a tree may be large and a peer may ask often: only what stands beside the missing
        // name is compared, and not more than a person would read
        let siblings = node.children.count <= 256 ? node.children.keys.map(\.text) : []
        let name = field.first.flatMap { NearestName.of($0.text, among: siblings) }
        return Refusal(
            .notFound, "no node or field at \(text), \(node.path) is as far as it leads",
            nearest: name.map { node.path.appending(WireKey($0)).description })
    }
}

// MARK: - Subscriptions
extension Server {
    func subscribe(_ header: FrameHeader, _ body: Span<UInt8>, of connection: Connection) {
        let request: Subscribe
        do throws(WireError) {
            request = try Subscribe(wireBytes: body)
        } catch {
            return refuse(header, Refusal(.decode, "subscribe: \(error)"), of: connection)
        }
        if let refusal = subscriptionQuota(of: connection) {
            return refuse(header, refusal, of: connection)
        }
        switch find(request.path) {
        case .failure(let refusal): refuse(header, refusal, of: connection)
        case .success((let node, let field)):
            guard request.mode == .value || field.isEmpty || !node.isCollection else {
                return refuse(header, notFound(request.path, node, field), of: connection)
            }
            guard request.mode == .value || field.isEmpty else {
                let text = "\(request.path) is inside a state: subscribe to it in value mode"
                return refuse(header, Refusal(.path, text), of: connection)
            }
            follow(node, field, request, header, connection)
        }
    }

    /// Why a connection may not subscribe to anything more.
    private func subscriptionQuota(of connection: Connection) -> Refusal? {
        guard connection.subscriptions.count < limits.subscriptionsPerConnectionMax else {
            let count = limits.subscriptionsPerConnectionMax
            return Refusal(.quota, "subscriptionsPerConnectionMax \(count) reached")
        }
        let uid = connection.peer.uid
        guard users[uid].subscriptions < limits.subscriptionsPerUIDMax else {
            let count = limits.subscriptionsPerUIDMax
            return Refusal(.quota, "subscriptionsPerUIDMax \(count) reached by uid \(uid)")
        }
        return nil
    }

    func follow(
        _ node: AnyNode, _ field: ArraySlice<WireKey>, _ request: Subscribe,
        _ header: FrameHeader, _ connection: Connection, older: OlderDeltas? = nil
    ) {
        if older == nil, asksHistory(of: node, request, header, connection) { return }
        compare(request.from, of: connection)
        let wasReplicated = node.isReplicated
        let slice = slices.slice(node, field, request.mode)
        if !wasReplicated, node.sequence > turnStart { slice.gapTurn = turnNumber }
        let old = connection.subscriptions[slice.id]
        if old == nil {
            slice.followers.append(connection)
            users.add(subscriptions: 1, of: connection.peer.uid)
        }
        var start = Subscribed.Start.snapshot
        var kept: [UInt8] = []
        // because the slices of a connection that lags move again only together
        if let from = request.from, from.epoch == tree.turn.epoch,
            from.sequence <= tree.turn.sequence, !connection.isLagging
        {
            if node.sequence <= from.sequence {
                start = .unchanged
            } else if request.mode == .replica, slice.gapTurn != turnNumber,
                // because deltas of this node are nothing to a state of one before it
                node.birthSequence <= from.sequence,
                let frames = missedFrames(of: node, after: from.sequence, older)
            {
                start = .deltas
                kept = frames
            }
        }
        connection.subscriptions[slice.id] = Subscription(
            slice: slice, isSnapshotOwed: start == .snapshot,
            isFresh: request.from.map { $0.epoch != tree.turn.epoch || isAhead($0) } ?? false,
            takesPatches: request.patches)
        if request.patches { slice.hasPatches = true }
        if start == .snapshot { connection.isBehind = true }
        let subscribed = Subscribed(
            start: start, reactor: node.reactorName, fingerprint: node.fingerprint,
            sequence: start == .snapshot ? tree.turn.sequence : request.from?.sequence ?? 0,
            byValue: node.isShownByValue)
        reply(to: connection) { writer in
            let frame = writer.beginFrame(.subscribed, id: slice.id, number: header.number)
            subscribed.encode(into: &writer)
            writer.endFrame(at: frame)
            // because these come before the deltas of this turn, and after "subscribed"
            writer.raw(kept)
        }
        connection.markedSequence = 0
    }

    func unsubscribe(_ id: UInt32, of connection: Connection) {
        guard let subscription = connection.subscriptions.removeValue(forKey: id) else { return }
        slices.leave(subscription.slice, connection)
        users.add(subscriptions: -1, of: connection.peer.uid)
    }
}
