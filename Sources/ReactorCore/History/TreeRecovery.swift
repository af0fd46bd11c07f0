/// Restores a tree from its history: states from a snapshot, then deltas.
///
///     let recovery = TreeRecovery(of: tree, dropped: [])
///     for part in snapshot { try recovery.restore(part) }
///     for row in journal { try recovery.replay(row.deltas) }
///     recovery.finish(epoch: epoch, sequence: sequence)
///
/// Restored nodes keep their numbers; a node that the history lacks gets a new one. A recovery
/// decides nothing: it runs no `mutate`, no reaction and no effect. *Owner*: the tree's isolation,
/// before the tree is opened.
///
/// After ``goLive()``, clients may follow the tree while further rows are replayed.
package final class TreeRecovery {
    /// The tree to restore.
    package let tree: Tree
    /// Paths at and below which the history may be skipped.
    private let dropped: [SlicePath]
    /// Nodes by their numbers in the history.
    private var known: [UInt32: AnyNode] = [:]
    /// Paths of nodes in the history that have no reactor today.
    private var lost: [UInt32: SlicePath] = [:]
    /// Initial states of the nodes that the current row creates.
    private var begun: [UInt32: NodeRecord] = [:]
    /// Nodes that the history does not contain; set at the end.
    package private(set) var newcomers: [AnyNode] = []
    /// Nodes of a snapshot whose parents have not been read, by the parents' numbers.
    private var waiting: [UInt32: [(head: NodeHead, state: [UInt8])]] = [:]
    private var lastNumber: UInt32 = 0
    /// The last probe, until its sums are read.
    private(set) var held: HeldProbe?
    /// Replays into a tree that clients follow; nil before that.
    private var live: LiveRedo?
    private(set) var forms = KeptForms()
    /// The conversions from earlier versions of types.
    let conversions = HistoryConversions()
    /// Collects what would end the replay; nil to end it.
    private(set) var survey: RecoverySurvey?

    /// Recovers `tree`, which has just been made. The tree may lack the nodes at and below the
    /// paths of `dropped`.
    package init(of tree: Tree, dropped: [SlicePath] = []) {
        precondition(!tree.isOpen, "only a tree that is not open recovers a history")
        self.tree = tree
        self.dropped = dropped
        know(tree.root, as: 0)
    }

    /// Continues the effect numbers of `former`, so that its late emissions match no new effect.
    package func succeed(_ former: Tree) { tree.effects.succeed(former.effects) }

    /// Collects differences from now on instead of ending the replay at the first. The tree is then
    /// not that of the history: no daemon may serve it.
    package func beginSurvey() -> RecoverySurvey {
        let survey = RecoverySurvey()
        self.survey = survey
        return survey
    }

    /// The node with `number` in the history, if it still exists.
    package func node(_ number: UInt32) -> AnyNode? {
        // The root is known even where the history has another reactor there.
        guard let node = known[number], !node.isGone, lost.isEmpty || lost[number] == nil else {
            return nil
        }
        return node
    }

    /// Ends the replay: the tree continues the history from here. With `follows`, another process
    /// numbers the nodes that the history lacks.
    ///
    /// *Throws*: if a snapshot has nodes without their parents.
    package func finish(
        epoch: UInt64, sequence: UInt64, follows: Bool = false
    ) throws(RecoveryError) {
        if let orphan = waiting.values.first?.first {
            throw .damaged("the snapshot has node \(orphan.head.number), but not what it is below")
        }
        var kept: [AnyNode] = []
        var derived: [AnyNode] = []
        tree.forEachNode { node in
            if node.isDerived {
                derived.append(node)
            } else if known[node.number] === node {
                kept.append(node)
                if !node.isKept || node.stateByteCount == 0 { node.measureState() }
            } else {
                newcomers.append(node)
                node.measureState()
            }
        }
        tree.nodes.rebuild(
            from: kept, newcomers + derived, after: lastNumber, areProvisional: follows)
        tree.rebuildDerived()
        tree.forEachNode { $0.presentRestored(tree.turn) }
        tree.turn.begin(epoch: epoch)
        tree.turn.transaction.continueHistory(after: sequence)
        tree.turn.begin()
    }

    /// Paths of skipped nodes; only the topmost of each branch.
    package var lostPaths: [SlicePath] {
        let paths = Set(lost.values)
        return paths.filter { path in
            !(0..<path.components.count).contains {
                paths.contains(SlicePath(Array(path.components.prefix($0))))
            }
        }.sorted { $0.description < $1.description }
    }

    private func know(_ node: AnyNode, as number: UInt32, isNew: Bool = false) {
        if let live {
            live.adopt(node, as: number, isNew: isNew)
        } else {
            tree.nodes.renumber(node, as: number)
        }
        known[number] = node
        use(number)
    }

    /// Records that the history uses a number. Provisional ones, which a process kept when it began
    /// to decide, are none of later children.
    private func use(_ number: UInt32) {
        if number < NodeRegistry.provisionalMin { lastNumber = max(lastNumber, number) }
    }

    /// Lets clients follow the tree from now on, after ``finish(epoch:sequence:follows:)``.
    /// `cutConnections` ends the connections of all, before a change that no delta describes.
    package func goLive(cuttingBy cutConnections: @escaping () -> Void) {
        live = LiveRedo(to: tree, cuttingBy: cutConnections)
    }

    /// Skips a node whose path belongs to `other` today, or to no node.
    private func lose(
        _ number: UInt32, at path: SlicePath, of reactor: String = "", for other: AnyNode? = nil
    ) throws(RecoveryError) {
        use(number)
        let isDropped = dropped.contains { path.components.starts(with: $0.components) }
        if !isDropped {
            let refusal =
                other.map {
                    RecoveryError.another(
                        path: path.description, kept: reactor, now: $0.reactorName)
                } ?? .missing(path: path.description)
            guard let survey else { throw refusal }
            survey.record(refusal, at: path)
        }
        lost[number] = path
    }
}

// MARK: - Numbers of nodes
extension TreeRecovery {
    /// Records the schemas under which the history has the task `id` of `node`.
    func recordForm(ofTask id: UInt64, of node: AnyNode) {
        forms.setSchema(ofTask: id, keptSchema(of: node)) { tree.tasks.facts }
    }

    /// Assigns the numbers that static nodes have from this row on, and the recorded states of
    /// nodes whose types had changed. A static node that is not listed had been dropped.
    package func assign(_ records: [NodeRecord]) throws(RecoveryError) {
        let numbers = Set(records.map(\.number))
        for node in tree.staticNodes
        where node !== tree.root && known[node.number] === node && !numbers.contains(node.number) {
            guard live == nil else { throw .damaged("\(node.path) \(Self.droppedText)") }
            // A later row may list it again, under another number: that is a new node.
            known[node.number] = nil
            reset(node)
        }
        for record in records {
            guard let node = tree.node(at: record.path) else {
                try lose(record.number, at: record.path)
                continue
            }
            guard node.isOf(record.reactor) else {
                try lose(record.number, at: record.path, of: record.reactor, for: node)
                continue
            }
            lost[record.number] = nil
            let isKnown = known[record.number] === node
            know(node, as: record.number)
            guard let live else {
                try restore(node, record)
                continue
            }
            try live.restore(node, record, isKnown: isKnown) { () throws(RecoveryError) in
                try restore(node, record)
            }
        }
    }

    private static let droppedText =
        "is not among the reactors of the leading daemon any more: start this one again"

    private func keep(_ node: AnyNode, as reactor: String, _ fingerprint: UInt64) {
        node.keep(as: reactor, fingerprint)
        forms.set(node, ReactorForm(name: reactor, fingerprint: fingerprint))
        if !node.isKept { survey?.compare(keptSchema(of: node), with: node) }
    }

    /// Stores the initial states of the nodes that the deltas of the same row create.
    package func expect(_ records: [NodeRecord]) {
        for record in records { begun[record.number] = record }
    }

    /// Ends the replay of a row that ends at `sequence`.
    package func endRow(at sequence: UInt64) {
        if !begun.isEmpty { begun.removeAll() }
        live?.endRow(at: sequence)
    }

    private func restore(_ node: AnyNode, _ record: NodeRecord) throws(RecoveryError) {
        keep(node, as: record.reactor, record.fingerprint)
        if let state = record.state { try restore(node, state.span) }
    }

    private func restore(_ node: AnyNode, _ state: Span<UInt8>) throws(RecoveryError) {
        try reading(.state, of: node, "the state of \(node.reactorName)") {
            let read = try conversions.convert(.state, state, of: node, in: self)
            if let read { try node.restore(read.span) } else { try node.restore(state) }
            // In a tree in use, the size counts once it is measured.
            if live == nil { node.setStateByteCount(read?.count ?? state.count) }
            survey?.recordRead(node)
        }
    }

    /// Reads values of a node; `what` names them in the refusal.
    private func reading(
        _ kind: HistoryKind, of node: AnyNode, _ what: @autoclosure () -> String,
        _ body: () throws -> Void
    ) throws(RecoveryError) {
        do { try body() } catch {
            let refusal = RecoveryError(what(), of: node, error)
            guard let survey else { throw refusal }
            survey.record(refusal, kind, of: node)
        }
    }

    /// Resets a node and all nodes below it to their initial states.
    private func reset(_ node: AnyNode) {
        node.reset()
        node.setBirth(0)
        node.restore(sequence: 0)
        tree.forgetWork(of: node)
        for child in node.children.values {
            if node.isCollection {
                node.removeChild(child.name)
                forget(child)
            } else {
                known[child.number] = nil
                reset(child)
            }
        }
    }

    // MARK: Snapshots
    /// Restores the nodes in a part of a snapshot, which it decodes in place.
    package func restore(_ part: Span<UInt8>, from offset: Int = 0) throws(RecoveryError) {
        var cursor = WireCursor(offset: offset)
        while cursor.offset < part.count {
            let head: NodeHead
            let state: Range<Int>
            do throws(WireError) {
                head = try NodeHead.decode(part, &cursor)
                state = try cursor.byteStringRange(in: part)
            } catch {
                throw .damaged("a node of the snapshot: \(error)")
            }
            try restore(head, part.extracting(state))
        }
    }

    private func restore(_ head: NodeHead, _ state: Span<UInt8>) throws(RecoveryError) {
        use(head.number)
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
            return waiting[head.parent, default: []].append((head, [UInt8](copying: state)))
        }
        for below in waiting.removeValue(forKey: head.number) ?? [] {
            try restore(below.head, below.state.span)
        }
    }

    private func makeChild(_ head: NodeHead, of parent: AnyNode) -> AnyNode? {
        let child = parent.makeChild(head.name, number: head.number)
        child?.setBirth(head.birth)
        return child
    }

    private func restore(
        _ node: AnyNode, _ head: NodeHead, _ state: Span<UInt8>
    ) throws(RecoveryError) {
        know(node, as: head.number)
        node.setBirth(head.birth)
        node.restore(sequence: head.sequence)
        keep(node, as: head.reactor, head.fingerprint)
        try restore(node, state)
    }

    // MARK: Deltas
    /// Replays the delta frames of a turn.
    package func replay(_ deltas: Span<UInt8>) throws(RecoveryError) {
        var offset = 0
        live?.beginRow()
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
        let body = deltas.extracting(start..<end)
        if let live {
            live.beginTransaction(header.number)
            try replay(header, body)
        } else {
            tree.turn.transaction.continueHistory(after: header.number - 1)
            try replay(header, body)
            tree.turn.transaction.continueHistory(after: header.number)
        }
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
        if isStructural {
            live?.addFrame(header, body, of: node)
            return try restructure(node, change(in: body, of: node), at: header.number)
        }
        if survey?.isUnknown(node) ?? false { return }
        try reading(
            .mutation, of: node, "a mutation of \(node.reactorName) at sequence \(header.number)"
        ) {
            var cursor = WireCursor(kept: 0)
            try Origin.skip(body, &cursor)
            let origin = body.extracting(0..<cursor.offset)
            let converted = try conversions.convert(
                .mutation, body, from: cursor.offset, of: node, in: self)
            if let converted {
                try redo(header, origin, converted.span, from: WireCursor(kept: 0), of: node)
            } else {
                try redo(header, origin, body, from: cursor, of: node)
            }
        }
    }

    private func redo(
        _ header: FrameHeader, _ origin: Span<UInt8>, _ mutations: Span<UInt8>,
        from start: WireCursor, of node: AnyNode
    ) throws(WireError) {
        guard let live else {
            var cursor = start
            try node.redo(mutations, &cursor)
            return node.touch(tree.turn)
        }
        try live.redo(
            header, origin, mutations, from: start, of: node, isOlder: forms.isOlder(node))
    }

    private func change(
        in body: Span<UInt8>, of node: AnyNode
    ) throws(RecoveryError) -> StructuralChange {
        do throws(WireError) {
            var cursor = WireCursor(kept: 0)
            try Origin.skip(body, &cursor)
            return try StructuralChange.decode(body, &cursor)
        } catch {
            throw .damaged("a change of \(node.path) in the journal: \(error)")
        }
    }

    private func restructure(
        _ collection: AnyNode, _ change: StructuralChange, at sequence: UInt64
    ) throws(RecoveryError) {
        switch change {
        case .create(let key, let number, let parts):
            let kept = begun[number]
            live?.vacate(number)
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
            child.setBirth(sequence)
            tree.insert(child, named: key)
            know(child, as: number, isNew: true)
            if let kept { try restore(child, kept) }
            for part in parts {
                let kept = begun[part.number]
                if let node = child.descendant(part.path), node.isOf(kept?.reactor ?? "") {
                    know(node, as: part.number, isNew: true)
                    if let kept { try restore(node, kept) }
                } else {
                    try lose(
                        part.number, at: child.path.appending(part.path), of: kept?.reactor ?? "",
                        for: child.descendant(part.path))
                }
            }
            child.touch(tree.turn)
            live?.show(child, in: collection)
        case .remove(let key):
            guard let child = collection.children[key] else {
                // The row that created it was skipped.
                if lost.values.contains(collection.path.appending(key)) { return }
                throw .damaged(
                    "sequence \(sequence) removes \(key) of \(collection.path), which is not there")
            }
            child.touch(tree.turn)
            collection.removeChild(key)
            forget(child)
            live?.remove(child, from: collection)
        }
    }

    private func forget(_ node: AnyNode) {
        for child in node.children.values { forget(child) }
        known[node.number] = nil
        forms.forget(node)
        if live != nil { return }
        node.setGone(true)
        // A long history may have had any number of removed nodes.
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

    /// Holds a probe until its sums are read; with nil, forgets it.
    func hold(_ probe: HeldProbe?) { held = probe }
}

extension SlicePath {
    fileprivate func appending(_ path: SlicePath) -> SlicePath {
        SlicePath(components + path.components)
    }
}
