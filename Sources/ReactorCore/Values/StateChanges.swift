/// The fields of a state that changed since the last drain.
///
/// *Shape*: may name more fields than differ now (a field changed in place counts, whatever the
/// result), never fewer.
public enum StateChanges: Equatable, Sendable {
    /// These fields, in the order of their declaration, and no others.
    case fields([FieldChange])
    /// Any field may have changed: this is the first drain, the state was replaced as a whole, or
    /// it is no ``TrackedState``.
    case all

    /// Whether nothing changed.
    package var isEmpty: Bool { self == .fields([]) }

    /// These changes and `later` ones together: ``all`` if either is, else the union of the fields.
    package func union(_ later: StateChanges) -> StateChanges {
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

/// A changed field.
public struct FieldChange: Equatable, Sendable {
    /// Index of the field in its state; fields from ``TrackedField/indexMax`` on share one index.
    package var index: Int
    /// Name of the field, as it is on the wire.
    package var name: WireKey
    /// The changed parts of the field.
    package var parts: FieldParts
    /// Whether observers ignore the change: see ``Ignored()``.
    package var isIgnored = false

    /// Makes a change of its parts.
    package init(index: Int, name: WireKey, parts: FieldParts = .all, isIgnored: Bool = false) {
        self.index = index
        self.name = name
        self.parts = parts
        self.isIgnored = isIgnored
    }
}

/// The changed parts of a field.
public enum FieldParts: Equatable, Sendable {
    /// The values under these keys, of a ``Keyed`` field.
    case keys([WireKey])
    /// These fields, of a field that is a ``TrackedState``.
    case fields([FieldChange])
    /// Any part.
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
