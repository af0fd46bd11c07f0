import DequeModule
package import ReactorCore
import ReactorWire

/// The paths of a history's nodes, by their numbers in its rows.
///
/// *Place*: beside a reader of the history that has no tree. It learns from snapshots and rows, in
/// any order: a number is never reused. *Cost*: memory for every node of the last row or of a
/// snapshot, and for the last ``leavingMax`` removed ones. ``invariants()`` states the invariants.
package struct NodePaths: Sendable {
    private enum Location {
        case at(SlicePath)
        case below(UInt32, WireKey)
    }

    private var locations: [UInt32: Location] = [0: .at(.root)]
    /// The children of a node, by name.
    private var children: [UInt32: [WireKey: UInt32]] = [:]
    /// The static nodes that were created with a node, at any depth below it.
    private var parts: [UInt32: [UInt32]] = [:]
    /// Removed nodes whose paths are still known, in the order of their removal.
    private var leaving: Deque<UInt32> = []

    // Clients that have not learned of a removal still send actions to the node.
    /// Maximum number of removed nodes whose paths are known.
    static let leavingMax = 4_096

    /// Knows the root.
    package init() {}

    /// The path of the node with `number`; nil if it is unknown.
    package func path(of number: UInt32) -> SlicePath? {
        var names: [WireKey] = []
        var number = number
        // Damaged bytes may describe a cycle.
        while names.count <= WireLimits.pathComponentsMax {
            switch locations[number] {
            case nil: return nil
            case .at(let path): return SlicePath(path.components + names.reversed())
            case .below(let parent, let name):
                names.append(name)
                number = parent
            }
        }
        return nil
    }

    /// Number of known nodes.
    var count: Int { locations.count }

    /// Learns the paths of the nodes in a snapshot's part.
    ///
    /// *Throws*: if the part is malformed.
    mutating func learn(part: [UInt8]) throws(WireError) {
        guard let range = try SnapshotPart.nodes(in: part.span) else { return }
        let bytes = part.span.extracting(range)
        var cursor = WireCursor()
        while cursor.offset < bytes.count {
            let head = try NodeHead.decode(bytes, &cursor)
            try cursor.skip(in: bytes)
            learn(head)
        }
    }

    /// Learns the path of a saved node.
    mutating func learn(_ head: NodeHead) {
        guard head.number != head.parent else { return }
        locate(head.number, below: head.parent, head.name)
    }

    private mutating func locate(_ number: UInt32, below parent: UInt32, _ name: WireKey) {
        locations[number] = .below(parent, name)
        children[parent, default: [:]][name] = number
    }

    /// Learns the paths of static nodes.
    mutating func learn(_ layout: [NodeRecord]) {
        for record in layout { locations[record.number] = .at(record.path) }
    }

    /// Learns a change of the children of the node numbered `collection`.
    mutating func learn(_ change: StructuralChange, of collection: UInt32) {
        switch change {
        case .create(let key, let number, let parts):
            locate(number, below: collection, key)
            for part in parts {
                guard let path = path(of: number) else { continue }
                locations[part.number] = .at(SlicePath(path.components + part.path.components))
                self.parts[number, default: []].append(part.number)
            }
        case .remove(let key):
            guard let number = children[collection]?.removeValue(forKey: key) else { return }
            leaving.append(number)
        }
    }

    /// Forgets the oldest removed nodes; called after each row, since the row may name them.
    mutating func settle() {
        defer { invariants() }
        while leaving.count > Self.leavingMax, let number = leaving.popFirst() {
            // A snapshot may have named the node before the row that creates it again.
            if case .below(let parent, let name)? = locations[number],
                children[parent]?[name] == number
            {
                continue
            }
            forget(number)
        }
    }

    /// Checks the invariants, in debug builds.
    @inline(__always)
    private func invariants() {
        assert(path(of: 0) == .root, "the root has another path")
        assert(leaving.count <= Self.leavingMax, "\(leaving.count) removed nodes are known")
    }

    private mutating func forget(_ number: UInt32) {
        var rest = [number]
        while let number = rest.popLast() {
            locations[number] = nil
            if let named = children.removeValue(forKey: number) { rest += named.values }
            if let parts = parts.removeValue(forKey: number) { rest += parts }
        }
    }
}
