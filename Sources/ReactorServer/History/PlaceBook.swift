import DequeModule
public import ReactorCore
import ReactorWire

/// Where the nodes of a history stood, by the numbers that its rows know them by.
///
/// *Place*: beside a reader of the past that has no tree. It learns from snapshots and from rows, in
/// any order: a number is never given twice. *Cost*: memory for every node that there is in the end,
/// or in a snapshot, and for the last ``leavingMax`` that went.
public struct PlaceBook: Sendable {
    private enum Place {
        case at(SlicePath)
        case below(UInt32, WireKey)
    }

    private var places: [UInt32: Place] = [0: .at(.root)]
    /// What stands below a node, by its names.
    private var children: [UInt32: [WireKey: UInt32]] = [:]
    /// What came with a node, at any depth below it.
    private var parts: [UInt32: [UInt32]] = [:]
    /// Nodes that went, in order, and are known still.
    private var leaving: Deque<UInt32> = []

    // because those who have not heard yet that a node went act on it a bit longer
    /// Most nodes that are known though they went.
    static let leavingMax = 4_096

    /// Knows the root.
    public init() {}

    /// Where the node stands that has `number`; nil if nothing was learnt of it.
    public func path(of number: UInt32) -> SlicePath? {
        var names: [WireKey] = []
        var number = number
        // because what was damaged may lead in a circle
        while names.count <= WireLimits.pathComponentsMax {
            switch places[number] {
            case nil: return nil
            case .at(let path): return SlicePath(path.components + names.reversed())
            case .below(let parent, let name):
                names.append(name)
                number = parent
            }
        }
        return nil
    }

    /// How many nodes it knows.
    var count: Int { places.count }

    /// Learns where the nodes of a snapshot's part stand.
    ///
    /// *Throws*: where the part is none.
    public mutating func learn(part: [UInt8]) throws(WireError) {
        guard case .nodes(let bytes) = try SnapshotPart(wireBytes: part.span) else { return }
        var cursor = WireCursor()
        while cursor.offset < bytes.count {
            let head = try NodeHead.decode(bytes.span, &cursor)
            try cursor.skip(in: bytes.span)
            learn(head)
        }
    }

    /// Learns where a saved node stands.
    mutating func learn(_ head: NodeHead) {
        guard head.number != head.parent else { return }
        place(head.number, below: head.parent, head.name)
    }

    private mutating func place(_ number: UInt32, below parent: UInt32, _ name: WireKey) {
        places[number] = .below(parent, name)
        children[parent, default: [:]][name] = number
    }

    /// Learns the numbers of static nodes.
    mutating func learn(_ layout: [KeptPlace]) {
        for place in layout { places[place.number] = .at(place.path) }
    }

    /// Learns of a change of the tree below the node numbered `collection`.
    mutating func learn(_ change: StructuralChange, of collection: UInt32) {
        switch change {
        case .create(let key, let number, let parts):
            place(number, below: collection, key)
            for part in parts {
                guard let path = path(of: number) else { continue }
                places[part.number] = .at(SlicePath(path.components + part.path.components))
                self.parts[number, default: []].append(part.number)
            }
        case .remove(let key):
            guard let number = children[collection]?.removeValue(forKey: key) else { return }
            leaving.append(number)
        }
    }

    /// Forgets nodes that went, but for the last few; behind a row, which may speak of them.
    mutating func settle() {
        while leaving.count > Self.leavingMax, let number = leaving.popFirst() {
            // because a snapshot that was learnt before may have told of it before it came
            if case .below(let parent, let name)? = places[number],
                children[parent]?[name] == number
            {
                continue
            }
            forget(number)
        }
    }

    private mutating func forget(_ number: UInt32) {
        var rest = [number]
        while let number = rest.popLast() {
            places[number] = nil
            if let named = children.removeValue(forKey: number) { rest += named.values }
            if let parts = parts.removeValue(forKey: number) { rest += parts }
        }
    }
}
