/// Which fields of a state were changed since somebody asked last.
///
/// *Shape*: may name more than what differs now (a field that was changed in place counts, whatever
/// came of it), never less.
public enum StateChanges: Equatable, Sendable {
    /// These fields, in the order of their declaration, and no others.
    case fields([FieldChange])
    /// Any field may have been: nobody has asked before, the state was replaced as a whole, or it
    /// is no ``TrackedState``.
    case all

    /// Whether nothing changed.
    public var isEmpty: Bool { self == .fields([]) }

    /// The changes of both: what changed since the older of two times.
    public func union(_ later: StateChanges) -> StateChanges {
        guard case .fields(var changes) = self, case .fields(let others) = later else {
            return .all
        }
        for other in others {
            if let index = changes.firstIndex(where: { $0.name == other.name }) {
                changes[index].parts = changes[index].parts.union(other.parts)
            } else {
                changes.append(other)
            }
        }
        return .fields(changes.sorted { $0.index < $1.index })
    }
}

/// A field that was changed.
public struct FieldChange: Equatable, Sendable {
    /// Place of the field among those of its state; from ``TrackedField/indexMax`` on it is shared.
    public var index: Int
    /// Name of the field, as it is on the wire.
    public var name: WireKey
    /// What of the field was changed.
    public var parts: FieldParts
    /// Whether observers are not told of it: see ``Ignored()``.
    public var isIgnored = false

    /// Says that a field was changed.
    public init(index: Int, name: WireKey, parts: FieldParts = .all, isIgnored: Bool = false) {
        self.index = index
        self.name = name
        self.parts = parts
        self.isIgnored = isIgnored
    }
}

/// What of a field was changed.
public enum FieldParts: Equatable, Sendable {
    /// What stands under these keys, of a ``Keyed`` field.
    case keys([WireKey])
    /// These fields, of a field that is a ``TrackedState``.
    case fields([FieldChange])
    /// Anything.
    case all

    fileprivate func union(_ later: FieldParts) -> FieldParts {
        switch (self, later) {
        case (.keys(let keys), .keys(let others)):
            let known = Set(keys)
            return .keys(keys + others.filter { !known.contains($0) })
        case (.fields(let fields), .fields(let others)):
            let both = StateChanges.fields(fields).union(.fields(others))
            guard case .fields(let all) = both else { return .all }
            return .fields(all)
        default: return .all
        }
    }
}
