/// The mounted nodes of a tree: by their numbers, and in an order that a snapshot walks over.
///
/// *Owner*: the tree's isolation.
final class NodeRegistry {
    // A dictionary: an array by number would keep an entry for every child that ever existed.
    /// The nodes by ``AnyNode/number``.
    private var nodes: [UInt32: AnyNode] = [:]
    // An array, so that a snapshot can walk over it while nodes are added and removed.
    /// The nodes, each at its ``AnyNode/orderIndex``.
    private(set) var order: [AnyNode] = []
    private var lastNumber: UInt32 = 0
    private var lastDerivedNumber: UInt32 = 0
    private var lastProvisionalNumber = provisionalMin - 1
    /// Number of snapshots begun.
    private var snapshotsBegun: UInt64 = 0
    /// Whether a recovery is assigning the numbers of its history.
    private var isRenumbering = false

    /// Number of mounted nodes.
    var count: Int { nodes.count }

    /// The node with a number, if it is mounted.
    subscript(number: UInt32) -> AnyNode? { nodes[number] }

    // Slices of values have numbers from 2³¹ on, so nodes use the lower half.
    /// A number that no mounted node has; numbers repeat after 2³¹.
    func newNumber() -> UInt32 {
        repeat { lastNumber = (lastNumber &+ 1) & 0x7fff_ffff } while nodes[lastNumber] != nil
        return lastNumber
    }

    // Counted down, so that derived values leave the numbers of all other nodes as they are.
    /// A number for a derived value that no mounted node has.
    func newDerivedNumber() -> UInt32 {
        repeat {
            lastDerivedNumber = (lastDerivedNumber &- 1) & 0x7fff_ffff
        } while nodes[lastDerivedNumber] != nil
        return lastDerivedNumber
    }

    /// Adds a node; a `snapshot` in progress is of a time before it and does not need it.
    func register(_ node: AnyNode, during snapshot: (any NodeSaver)?) {
        nodes[node.number] = node
        node.move(to: order.count)
        order.append(node)
        if snapshot != nil, node.savedIn < snapshotsBegun { node.markSaved(in: snapshotsBegun) }
        assert(invariants(at: node.orderIndex))
    }

    /// Removes a node, and saves it first if a `snapshot` in progress still needs it.
    func remove(_ node: AnyNode, during snapshot: (any NodeSaver)?) {
        snapshot?.save(node)
        nodes[node.number] = nil
        let index = node.orderIndex
        let last = order.removeLast()
        guard last !== node else { return }
        // The snapshot would miss a node that moves to an index which it has passed.
        snapshot?.saveMoving(last, to: index)
        order[index] = last
        last.move(to: index)
        assert(invariants(at: index))
    }

    /// A number for a new snapshot.
    func newSnapshotNumber() -> UInt64 {
        snapshotsBegun += 1
        return snapshotsBegun
    }

    // MARK: Recovery

    /// Gives a node the number that it has in the history. Other nodes may lose theirs until
    /// ``rebuild(from:_:after:)``.
    func renumber(_ node: AnyNode, as number: UInt32) {
        isRenumbering = true
        if nodes[node.number] === node { nodes[node.number] = nil }
        node.renumber(number)
        nodes[number] = node
    }

    /// Replaces all nodes: the `known` ones keep their numbers, `newcomers` get new ones after
    /// `lastNumber`, or provisional ones if another process assigns them later.
    func rebuild(
        from known: [AnyNode], _ newcomers: [AnyNode], after lastNumber: UInt32,
        areProvisional: Bool = false
    ) {
        nodes.removeAll()
        order.removeAll()
        isRenumbering = false
        self.lastNumber = lastNumber
        for node in known { register(node, during: nil) }
        for node in newcomers {
            node.renumber(
                node.isDerived
                    ? newDerivedNumber() : areProvisional ? newProvisionalNumber() : newNumber())
            register(node, during: nil)
        }
        assert(order.indices.allSatisfy(invariants))
    }

    // MARK: A tree that follows another process

    /// The first number for nodes that the followed process has not numbered, so that they do not
    /// meet the numbers of its next children.
    static let provisionalMin: UInt32 = 0x7000_0000

    private func newProvisionalNumber() -> UInt32 {
        repeat { lastProvisionalNumber += 1 } while nodes[lastProvisionalNumber] != nil
        return lastProvisionalNumber
    }

    /// Records that the followed process uses `number`: a node that has it here gets another one.
    func vacate(_ number: UInt32) {
        if number < Self.provisionalMin { lastNumber = max(lastNumber, number) }
        guard let node = nodes.removeValue(forKey: number) else { return }
        node.renumber(node.isDerived ? newDerivedNumber() : newProvisionalNumber())
        nodes[node.number] = node
    }

    /// Gives a node of a tree that is in use the number that the followed process has for it, which
    /// no other node has.
    func renumber(mounted node: AnyNode, as number: UInt32) {
        nodes[node.number] = nil
        node.renumber(number)
        nodes[number] = node
        assert(invariants(at: node.orderIndex))
    }

    /// Each node is listed under its number, and in the order at its index; checked at one index,
    /// since a check of all would take as long as the tree is large.
    func invariants(at index: Int) -> Bool {
        if isRenumbering { return true }
        let node = order[index]
        return nodes.count == order.count && node.orderIndex == index
            && nodes[node.number] === node
    }
}

/// Saves nodes before they change or leave the tree, for a snapshot of an earlier moment.
protocol NodeSaver: AnyObject {
    /// Saves a node that has not been saved yet.
    func save(_ node: AnyNode)

    /// Saves a node that moves to an index which the snapshot has passed.
    func saveMoving(_ node: AnyNode, to index: Int)
}
