package import ReactorWire

// MARK: - Layout
extension Tree {
    /// The layout that the journal records before the first change: the static nodes, and each
    /// keyed node whose state the history does not contain in today's form.
    ///
    /// *Cost*: O(nodes); encodes the states that the history lacks or has in another form.
    package func takeLayout() -> [NodeRecord] {
        var records = staticNodes.map { NodeRecord($0, path: $0.path, withState: !$0.isKept) }
        let known = Set(records.map(\.number))
        forEachNode { node in
            if !node.isKept, !node.isDerived, !known.contains(node.number) {
                records.append(NodeRecord(node, path: node.path, withState: true))
            }
            node.keep()
        }
        return records
    }

    /// The schemas that the journal records before the layout: of each type in the tree, unless
    /// they are the last that the history has of its name and fingerprint.
    ///
    /// *Cost*: O(nodes); describes each type once.
    package func takeSchemas() -> [KeptSchema] {
        var taken: [KeptSchema] = []
        forEachNode { if let schema = takeSchema(of: $0) { taken.append(schema) } }
        return taken
    }

    /// The schemas that the journal records beside the creation of nodes: of types that the tree
    /// did not have before.
    package func takeSchemas(of made: [NodeRecord]) -> [KeptSchema] {
        made.compactMap { record in node(record.number).flatMap { takeSchema(of: $0) } }
    }

    private func takeSchema(of node: AnyNode) -> KeptSchema? {
        schemas.take(type(of: node), KeptSchema(node))
    }

    /// All nodes except derived values, keyed children and the nodes below these; parents before
    /// children.
    var staticNodes: [AnyNode] { Self.staticNodes(from: root) }

    private static func staticNodes(from node: AnyNode) -> [AnyNode] {
        guard !node.isCollection else { return [node] }
        return [node] + node.keptChildren.flatMap { staticNodes(from: $0) }
    }

    /// The numbers and reactors of all nodes except keyed children and the nodes below them.
    package var staticRecords: [NodeRecord] {
        staticNodes.map { NodeRecord($0, path: $0.path, withState: false) }
    }

    // MARK: Tasks and ownerships

    /// Moves the ids of later tasks away from those of other epochs.
    package func renumberTasks() { tasks.begin(epoch: turn.epoch) }

    /// Starts a new epoch at the current sequence, after the end of the previous history was lost.
    ///
    /// *Owner*: call it between two turns.
    package func beginEpoch(_ epoch: UInt64) {
        turn.begin(epoch: epoch)
        renumberTasks()
    }

    /// The highest id of a task so far.
    package var lastTask: UInt64 { tasks.lastID }

    /// The current ownerships and leases, to be collected on any thread.
    package func copyOwnership() -> @Sendable () -> [OwnershipFact] {
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

    /// The connections that own a key of a reactor, in ascending order.
    package var owningConnections: [UInt64] { ownership.connections }

    /// Ends the ownerships of all connections except `kept`: no other survives a restart.
    package func endFormerConnections(except kept: Set<UInt64> = []) {
        for connection in ownership.connections where !kept.contains(connection) {
            endConnection(connection)
        }
    }

    // MARK: Snapshots and captures

    /// Whether a snapshot is in progress.
    package var isSnapshotted: Bool { turn.snapshot != nil }

    /// Begins a snapshot of the current revision. Call it between two transactions; only one
    /// snapshot may be in progress.
    package func beginSnapshot() -> TreeSnapshot {
        precondition(turn.snapshot == nil, "a snapshot is being taken")
        let snapshot = TreeSnapshot(of: self)
        turn.beginSnapshot(snapshot)
        return snapshot
    }

    /// Captures the list of all nodes: an encoded array of ``TreeEntry``, parents before children,
    /// siblings in ascending order of their names.
    ///
    /// An entry has the sequence that `sequence` returns; a node for which it returns nil has none.
    ///
    /// *Cost*: O(nodes), without encoding or sorting anything.
    package func captureEntries(
        _ sequence: (AnyNode) -> UInt64? = { $0.sequence }
    ) -> SliceCapture {
        var names: [ObjectIdentifier: String] = [:]
        var entries: [(path: SlicePath, reactor: String, sequence: UInt64)] = []
        entries.reserveCapacity(nodes.count)
        for node in nodes.order {
            // Cached, since Swift builds the name of a type at each request.
            let type = ObjectIdentifier(type(of: node))
            let name = names[type] ?? node.describedName
            names[type] = name
            if let sequence = sequence(node) { entries.append((node.path, name, sequence)) }
        }
        let captured = entries
        return SliceCapture { writer in
            let sorted = captured.sorted {
                $0.path.components.lexicographicallyPrecedes($1.path.components)
            }
            writer.array(count: sorted.count)
            for entry in sorted {
                TreeEntry(
                    path: entry.path.description, reactor: entry.reactor,
                    sequence: entry.sequence
                ).encode(into: &writer)
            }
            return .found
        }
    }

    // MARK: Probes

    /// Adds the nodes of the turn's first `frameCount` deltas to `changed`. Call it between two
    /// transactions.
    package func collectChanged(
        into changed: inout ChangedNodes, _ frameCount: Int = searchedFrameCount
    ) {
        turn.withDeltas { bytes in
            var offset = 0
            for _ in 0..<frameCount {
                guard
                    let header = try? FrameHeader.decode(
                        bytes, at: offset, frameBytesMax: Int(UInt32.max))
                else { return }
                offset += FrameHeader.byteCount + Int(header.length)
                if header.kind == FrameKind.delta.rawValue { changed.add(header.id) }
            }
            if offset < bytes.count { changed.omit() }
        }
    }

    /// Probes these nodes, except those that were removed. Call it between two transactions.
    package func probe(_ changed: ChangedNodes) -> StateProbe {
        StateProbe(of: changed.numbers.compactMap { nodes[$0] }.filter(Self.isProbed))
    }

    /// Probes the nodes that changed after `sequence`, but at most
    /// ``StateProbe/lastNodeCountMax``, for a daemon that ends. *Cost*: O(nodes).
    package func probe(changedAfter sequence: UInt64) -> StateProbe {
        var found: [AnyNode] = []
        forEachNode { node in
            guard node.sequence > sequence, Self.isProbed(node),
                found.count < StateProbe.lastNodeCountMax
            else { return }
            found.append(node)
        }
        return StateProbe(of: found)
    }

    /// The nodes that changed after `sequence`. *Cost*: O(nodes).
    package func changedNodes(after sequence: UInt64) -> ChangedNodes {
        var changed = ChangedNodes()
        forEachNode { node in
            if node.sequence > sequence, Self.isProbed(node) { changed.add(node.number) }
        }
        return changed
    }

    /// Deltas of a turn that are searched for changed nodes: few, since every turn is searched.
    package static let searchedFrameCount = 16
    /// Deltas of a turn that are searched before a probe.
    package static let probedFrameCount = 64

    // MARK: States from elsewhere

    /// Replaces the state of the node at `path` with `state`. Returns the nodes that changed.
    /// Creates a missing child of a collection, with all nodes below it.
    ///
    /// *Place*: between a recovery and the end of the process, never on an open tree. It runs no
    /// `mutate` and no reaction, and informs no observer.
    package func importState(
        _ state: Span<UInt8>, at path: SlicePath
    ) throws(ImportError) -> [AnyNode] {
        precondition(!isOpen, "states are imported only into a tree that is not open")
        let (node, made) = try findOrMake(path)
        do throws(WireError) {
            try node.restore(state)
        } catch {
            throw .unreadable(path: path.description, error)
        }
        node.restore(sequence: turn.sequence)
        return made.isEmpty ? [node] : made
    }

    private func findOrMake(
        _ path: SlicePath
    ) throws(ImportError) -> (node: AnyNode, made: [AnyNode]) {
        if let node = node(at: path) {
            if node.isDerived { throw .missing(path: path.description) }
            return (node, [])
        }
        guard let name = path.components.last,
            let parent = node(at: SlicePath(path.components.dropLast())), parent.isCollection,
            let child = parent.makeChild(name, number: nodes.newNumber())
        else { throw .missing(path: path.description) }
        child.setBirth(turn.sequence)
        insert(child, named: name)
        var made: [AnyNode] = []
        child.visit { made.append($0) }
        return (child, made)
    }

    /// Encodes the nodes in the form that ``TreeRecovery/restore(_:from:)`` reads.
    package func encodeSaved(_ nodes: [AnyNode]) -> [UInt8] {
        var writer = WireWriter()
        for node in nodes { SavedNode(node).encode(into: &writer) }
        return writer.bytes
    }

    /// Whether a probe may sum the node's state: it is in the tree and has one of its own.
    private static func isProbed(_ node: AnyNode) -> Bool { !node.isCollection && !node.isGone }
}
