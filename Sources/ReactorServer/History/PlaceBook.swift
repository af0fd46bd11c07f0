public import ReactorCore
import ReactorWire

/// Where the nodes of a history stood, by the numbers that its rows know them by.
///
/// *Place*: beside a reader of the past that has no tree. It learns from snapshots and from rows, in
/// any order: a number is never given twice. *Cost*: memory for every node that there was.
public struct PlaceBook: Sendable {
    private enum Place {
        case at(SlicePath)
        case below(UInt32, WireKey)
    }

    private var places: [UInt32: Place] = [0: .at(.root)]

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

    /// Where all nodes stand or stood. *Cost*: O(nodes).
    public var paths: Set<SlicePath> { Set(places.keys.compactMap { path(of: $0) }) }

    /// Learns what a row tells of where nodes stand.
    ///
    /// *Throws*: where the row is none.
    public mutating func learn(facts: [UInt8]) throws(WireError) {
        for case .layout(let layout) in try TurnFact.list(facts.span) { learn(layout) }
    }

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
        places[head.number] = .below(head.parent, head.name)
    }

    /// Learns the numbers of static nodes.
    mutating func learn(_ layout: [NodePlace]) {
        for place in layout { places[place.number] = .at(place.path) }
    }

    /// Learns of a change of the tree below the node numbered `collection`.
    mutating func learn(_ change: StructuralChange, of collection: UInt32) {
        guard case .create(let key, let number, let parts) = change else { return }
        places[number] = .below(collection, key)
        for part in parts {
            guard let path = path(of: number) else { continue }
            places[part.number] = .at(SlicePath(path.components + part.path.components))
        }
    }
}
