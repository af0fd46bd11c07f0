/// Puts a tree back to where its history left it: states from a snapshot, then deltas.
///
///     let recovery = TreeRecovery(of: tree, dropped: [])
///     for part in snapshot { try recovery.restore(part) }
///     for row in journal { try recovery.replay(row.deltas) }
///     recovery.finish(epoch: epoch, sequence: sequence)
///
/// Nodes are known by the numbers that they had; who stands at a path but had none yet gets a new
/// one. Nothing is decided: no `mutate`, no reaction, no effect. *Owner*: the tree's isolation,
/// before the tree is opened.
public final class TreeRecovery {
    /// The tree that is put back.
    public let tree: Tree
    /// Paths below which the history is passed over.
    private let dropped: [SlicePath]
    /// Nodes by their numbers in the history.
    private var known: [UInt32: AnyNode] = [:]
    /// Where nodes of the history stood whose reactors are no more.
    private var lost: [UInt32: SlicePath] = [:]
    /// What the nodes that the row at hand creates began with.
    private var begun: [UInt32: KeptPlace] = [:]
    /// Nodes that the history does not have, once it is finished.
    public private(set) var newcomers: [AnyNode] = []
    /// Nodes of a snapshot, by the parents that have not come yet.
    private var waiting: [UInt32: [(head: NodeHead, state: [UInt8])]] = [:]
    private var lastNumber: UInt32 = 0
    /// What was probed and waits for its sums.
    var held: HeldProbe?

    /// Recovers `tree`, which has just been made; what stood at or below a path of `dropped` may be
    /// missing from it.
    public init(of tree: Tree, dropped: [SlicePath] = []) {
        precondition(!tree.isOpen, "a tree that was opened has a history of its own")
        self.tree = tree
        self.dropped = dropped
        know(tree.root, as: 0)
    }

    /// Keeps what effects of `former` still emit from being taken for those of effects to come.
    public func succeed(_ former: Tree) { tree.effectsStarted = former.effectsStarted }

    /// The node that had `number`, if it is still there.
    public func node(_ number: UInt32) -> AnyNode? {
        known[number].flatMap { $0.isGone ? nil : $0 }
    }

    /// Makes the history that was replayed the tree's own.
    ///
    /// *Throws*: where a snapshot has nodes whose parents it has not.
    public func finish(epoch: UInt64, sequence: UInt64) throws(RecoveryError) {
        if let orphan = waiting.values.first?.first {
            throw .damaged("the snapshot has node \(orphan.head.number), but not what it is below")
        }
        tree.nodes.removeAll()
        tree.order.removeAll()
        tree.lastNumber = lastNumber
        tree.forEachNode { node in
            if known[node.number] === node { tree.list(node) } else { newcomers.append(node) }
        }
        for node in newcomers {
            node.ownNumber = tree.newNumber()
            tree.list(node)
        }
        tree.forEachNode { $0.presentRestored(tree.turn) }
        tree.turn.epoch = epoch
        tree.turn.lastSequence = sequence
        tree.turn.begin()
    }

    /// Where nodes of the history stood whose reactors are no more, without those below others.
    public var lostPaths: [SlicePath] {
        let paths = Set(lost.values)
        return paths.filter { path in
            !(0..<path.components.count).contains {
                paths.contains(SlicePath(Array(path.components.prefix($0))))
            }
        }.sorted { $0.description < $1.description }
    }

    private func know(_ node: AnyNode, as number: UInt32) {
        if tree.nodes[node.number] === node { tree.nodes[node.number] = nil }
        node.ownNumber = number
        tree.nodes[number] = node
        known[number] = node
        lastNumber = max(lastNumber, number)
    }

    /// Passes over a node whose place `other` has today, or none.
    private func lose(
        _ number: UInt32, at path: SlicePath, of reactor: String = "", for other: AnyNode? = nil
    ) throws(RecoveryError) {
        lastNumber = max(lastNumber, number)
        let isDropped = dropped.contains { path.components.starts(with: $0.components) }
        guard isDropped else {
            guard let other else { throw .missing(path: path.description) }
            throw .another(path: path.description, kept: reactor, now: other.reactorName)
        }
        lost[number] = path
    }
}

// MARK: - Where nodes stand
extension TreeRecovery {
    /// Takes the numbers that static nodes have from here on, and the states that are kept of nodes
    /// whose types had changed; a static node that is not among them had been dropped.
    public func place(_ places: [KeptPlace]) throws(RecoveryError) {
        let numbers = Set(places.map(\.number))
        for node in tree.staticNodes
        where node !== tree.root && known[node.number] === node && !numbers.contains(node.number) {
            // it came back later, with another number, and was another then
            known[node.number] = nil
            reset(node)
        }
        for place in places {
            guard let node = tree.node(at: place.path) else {
                try lose(place.number, at: place.path)
                continue
            }
            guard node.isOf(place.reactor) else {
                try lose(place.number, at: place.path, of: place.reactor, for: node)
                continue
            }
            lost[place.number] = nil
            know(node, as: place.number)
            try restore(node, place)
        }
    }

    /// Takes what nodes begin with that the deltas of the same row create.
    public func begin(_ places: [KeptPlace]) {
        for place in places { begun[place.number] = place }
    }

    /// The row at hand was replayed.
    public func endRow() { if !begun.isEmpty { begun.removeAll() } }

    private func restore(_ node: AnyNode, _ place: KeptPlace) throws(RecoveryError) {
        node.noteKept(place.reactor, place.fingerprint)
        if let state = place.state { try restore(node, state) }
    }

    private func restore(_ node: AnyNode, _ state: [UInt8]) throws(RecoveryError) {
        do throws(WireError) {
            try node.restore(state.span)
        } catch {
            throw .unreadable(
                path: node.path.description, what: "the state of \(node.reactorName)", error)
        }
    }

    /// Takes a node back to where it begins, with all below it.
    private func reset(_ node: AnyNode) {
        node.reset()
        (node.birthSequence, node.changedSequence) = (0, 0)
        tree.ownership.forget(node: node.number)
        tree.forgetTasks(of: node.number)
        for child in node.children.values {
            if node.isCollection {
                node.children[child.name] = nil
                forget(child)
            } else {
                known[child.number] = nil
                reset(child)
            }
        }
    }
}

extension Tree {
    /// The numbers and reactors of all nodes but those that come and go, and what is below them.
    package var staticPlaces: [KeptPlace] {
        staticNodes.map { KeptPlace($0, path: $0.path, withState: false) }
    }
}

// MARK: - Snapshots
extension TreeRecovery {
    /// Restores the nodes that a part of a snapshot holds.
    public func restore(_ part: Span<UInt8>, from offset: Int = 0) throws(RecoveryError) {
        var cursor = WireCursor(offset: offset)
        while cursor.offset < part.count {
            let head: NodeHead
            let state: [UInt8]
            do throws(WireError) {
                head = try NodeHead.decode(part, &cursor)
                state = try [UInt8].decode(part, &cursor)
            } catch {
                throw .damaged("a node of the snapshot: \(error)")
            }
            try restore(head, state)
        }
    }

    private func restore(_ head: NodeHead, _ state: [UInt8]) throws(RecoveryError) {
        lastNumber = max(lastNumber, head.number)
        if head.number == head.parent {
            if tree.root.isOf(head.reactor) {
                try restore(tree.root, head, state)
            } else {
                try lose(head.number, at: .root, of: head.reactor, for: tree.root)
            }
        } else if let path = lost[head.parent] {
            try lose(head.number, at: path.appending(head.name))
        } else if let parent = known[head.parent] {
            let node = parent.children[head.name] ?? makeChild(head, of: parent)
            if let node, node.isOf(head.reactor) {
                if parent.children[head.name] == nil { tree.insert(node, named: head.name) }
                try restore(node, head, state)
            } else {
                try lose(
                    head.number, at: parent.path.appending(head.name), of: head.reactor, for: node)
            }
        } else {
            return waiting[head.parent, default: []].append((head, state))
        }
        for below in waiting.removeValue(forKey: head.number) ?? [] {
            try restore(below.head, below.state)
        }
    }

    private func makeChild(_ head: NodeHead, of parent: AnyNode) -> AnyNode? {
        let child = parent.makeChild(head.name, number: head.number)
        child?.birthSequence = head.birth
        return child
    }

    private func restore(
        _ node: AnyNode, _ head: NodeHead, _ state: [UInt8]
    ) throws(RecoveryError) {
        know(node, as: head.number)
        node.birthSequence = head.birth
        node.changedSequence = head.sequence
        node.noteKept(head.reactor, head.fingerprint)
        try restore(node, state)
    }
}

// MARK: - Deltas
extension TreeRecovery {
    /// Replays the delta frames of a turn.
    public func replay(_ deltas: Span<UInt8>) throws(RecoveryError) {
        var offset = 0
        while offset < deltas.count {
            let end = try replayFrame(deltas, from: offset)
            offset = end
        }
    }

    private func replayFrame(
        _ deltas: Span<UInt8>, from offset: Int
    ) throws(RecoveryError) -> Int {
        let header: FrameHeader
        do throws(FrameError) {
            let found = try FrameHeader.decode(deltas, at: offset, frameBytesMax: Int(UInt32.max))
            guard let found else { throw FrameError(.unknownKind(0), at: offset) }
            header = found
        } catch {
            throw .damaged("a frame of the journal: \(error)")
        }
        let start = offset + FrameHeader.byteCount
        let end = start + Int(header.length)
        guard header.kind == FrameKind.delta.rawValue, end <= deltas.count else {
            throw .damaged(
                "a frame of kind \(header.kind) and \(header.length) bytes in the journal")
        }
        tree.turn.lastSequence = header.number - 1
        try replay(header, deltas.extracting(start..<end))
        tree.turn.lastSequence = header.number
        return end
    }

    private func replay(
        _ header: FrameHeader, _ body: Span<UInt8>
    ) throws(RecoveryError) {
        let isStructural = header.flags.contains(.structural)
        if let path = lost[header.id] {
            if isStructural { try replayLost(body, at: path) }
            return
        }
        guard let node = known[header.id] else {
            throw .damaged("sequence \(header.number) changes node \(header.id), which is unknown")
        }
        var change: StructuralChange?
        do throws(WireError) {
            var cursor = WireCursor(kept: 0)
            try Origin.skip(body, &cursor)
            if isStructural {
                change = try StructuralChange.decode(body, &cursor)
            } else {
                try node.redo(body, &cursor)
                node.touch(tree.turn)
            }
        } catch {
            throw .unreadable(
                path: node.path.description,
                what: "a mutation of \(node.reactorName) at sequence \(header.number)", error)
        }
        if let change { try restructure(node, change, at: header.number) }
    }

    private func restructure(
        _ collection: AnyNode, _ change: StructuralChange, at sequence: UInt64
    ) throws(RecoveryError) {
        switch change {
        case .create(let key, let number, let parts):
            let kept = begun[number]
            let made = collection.makeChild(key, number: number)
            guard let child = made, child.isOf(kept?.reactor ?? "") else {
                try lose(
                    number, at: collection.path.appending(key), of: kept?.reactor ?? "", for: made)
                for part in parts {
                    try lose(part.number, at: collection.path.appending(key).appending(part.path))
                }
                return
            }
            guard collection.children[key] == nil else {
                throw .damaged("sequence \(sequence) makes \(child.path), which is there")
            }
            child.birthSequence = sequence
            tree.insert(child, named: key)
            know(child, as: number)
            if let kept { try restore(child, kept) }
            for part in parts {
                let kept = begun[part.number]
                if let node = child.descendant(part.path), node.isOf(kept?.reactor ?? "") {
                    know(node, as: part.number)
                    if let kept { try restore(node, kept) }
                } else {
                    try lose(
                        part.number, at: child.path.appending(part.path), of: kept?.reactor ?? "",
                        for: child.descendant(part.path))
                }
            }
            child.touch(tree.turn)
        case .remove(let key):
            guard let child = collection.children[key] else {
                throw .damaged(
                    "sequence \(sequence) removes \(key) of \(collection.path), which is not there")
            }
            child.touch(tree.turn)
            collection.children[key] = nil
            forget(child)
        }
    }

    private func forget(_ node: AnyNode) {
        for child in node.children.values { forget(child) }
        known[node.number] = nil
        node.hasLeft = true
        // because a long history may have had any number of nodes that are no more
        tree.unlist(node)
        tree.forget(node)
    }

    private func replayLost(_ body: Span<UInt8>, at path: SlicePath) throws(RecoveryError) {
        var cursor = WireCursor()
        guard (try? Origin.skip(body, &cursor)) != nil,
            let change = try? StructuralChange.decode(body, &cursor)
        else { throw .damaged("a change of \(path) in the journal") }
        guard case .create(let key, let number, let parts) = change else { return }
        try lose(number, at: path.appending(key))
        for part in parts {
            try lose(part.number, at: path.appending(key).appending(part.path))
        }
    }
}

extension AnyNode {
    /// The node at `path` from this one.
    fileprivate func descendant(_ path: SlicePath) -> AnyNode? {
        var node: AnyNode? = self
        for name in path.components { node = node?.children[name] }
        return node
    }
}

extension SlicePath {
    fileprivate func appending(_ path: SlicePath) -> SlicePath {
        SlicePath(components + path.components)
    }
}

// MARK: - Ownership
extension TreeRecovery {
    /// Replays a change of who owns what; said again it changes nothing.
    public func replay(_ fact: OwnershipFact) {
        if case .own(let number, _, _, _) = fact, node(number) == nil { return }
        switch fact {
        case .own(let number, _, _, _), .disown(let number, _, _): node(number)?.redo(fact)
        case .end(let connection):
            for owned in tree.ownership.take(connection: connection) {
                for key in owned.keys {
                    node(owned.node)?.redo(
                        .disown(node: owned.node, key: key, connection: connection))
                }
            }
        }
        tree.ownership.apply(fact)
    }
}

// MARK: - What is promised and owned
extension Tree {
    /// Gives the tasks to come ids that none had in another epoch than the tree's.
    public func numberTasksAnew() { tasks.begin(epoch: turn.epoch) }

    /// Begins another history at the present sequence, because the one before has lost its end.
    ///
    /// *Owner*: between two turns.
    public func beginEpoch(_ epoch: UInt64) {
        turn.epoch = epoch
        numberTasksAnew()
    }

    /// The highest id of a task so far.
    public var lastTask: UInt64 { tasks.lastID }

    /// What connections own, and what they hold of leased children, to be encoded on any thread.
    public func copyOwnership() -> @Sendable () -> [OwnershipFact] {
        var books: [UInt32: LeaseBook] = [:]
        for number in ownership.nodes {
            if let book = nodes[number]?.leaseBook { books[number] = book }
        }
        return { [ownership, books] in
            ownership.facts.map { fact in
                guard case .own(let node, let key, let connection, _) = fact else { return fact }
                return .own(
                    node: node, key: key, connection: connection,
                    definesLifecycle: books[node]?.page(key).isDefined)
            }
        }
    }

    /// Ends every connection that owns something: after a restart, when none of them is there.
    public func endFormerConnections() {
        for connection in ownership.connections { endConnection(connection) }
    }
}
