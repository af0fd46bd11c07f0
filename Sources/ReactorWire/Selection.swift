/// A query of a collection: which of its children a slice shows, and in which order.
///
/// *Shape*: without an ``order``, the value is a map from key to child, like the collection's own;
/// with one, it is a map of two: `order`, the keys in order, and `children`.
@WireCodable
@MemberwiseInit
public struct Selection: Hashable, Sendable {
    /// The keys of the children; `nil` for every key.
    public var keys: KeyBounds?
    /// The condition that a child's own state meets; `nil` for every child.
    public var filter: SelectionCondition?
    /// The order, the most significant part first; children that are equal in all parts are in the
    /// order of their keys.
    public var order: [SelectionOrder] = []
    /// Maximum number of children: the first in the order, or by their keys; `nil` for all.
    public var first: UInt64?

    /// The key of the keys in order, in the value of a selection with an order.
    public static let orderKey: WireKey = "order"
    /// The key of the children, in the value of a selection with an order.
    public static let childrenKey: WireKey = "children"
}

/// A range of keys, both ends included: integers by their values, texts by their bytes.
@WireCodable
@MemberwiseInit
public struct KeyBounds: Hashable, Sendable {
    /// The lowest key; `nil` for no bound.
    public var from: WireKey?
    /// The highest key; `nil` for no bound.
    public var through: WireKey?
}

/// A part of an order: a field of the children's own state, or the key.
@WireCodable
@MemberwiseInit
public struct SelectionOrder: Hashable, Sendable {
    /// Path of the field inside a child's state; empty for the key.
    public var field: [WireKey] = []
    /// Whether greater values come first.
    public var descending: Bool = false
}

/// A condition on a child's own state.
@WireCodable
public indirect enum SelectionCondition: Hashable, Sendable {
    /// All of these hold.
    case all([SelectionCondition])
    /// One of these holds.
    case any([SelectionCondition])
    /// This does not hold.
    case not(SelectionCondition)
    /// The value at a path inside the state, compared with another. A missing value counts as
    /// `null`.
    case compare(field: [WireKey], by: FieldComparison, with: WireValue)
    /// The value at a path inside the state is one of these.
    case among(field: [WireKey], values: [WireValue])
}

/// How a condition compares a field with a value.
@WireCodable
public enum FieldComparison: String, CaseIterable, Sendable {
    case equal
    case unequal
    case less
    case lessOrEqual
    case greater
    case greaterOrEqual
}

// MARK: - Sizes
extension SelectionCondition {
    /// Levels of the condition; a comparison has one.
    package var depth: Int {
        switch self {
        case .all(let parts), .any(let parts): 1 + (parts.map(\.depth).max() ?? 0)
        case .not(let part): 1 + part.depth
        case .compare, .among: 1
        }
    }

    /// Number of conditions and of values that they compare with.
    package var termCount: Int {
        switch self {
        case .all(let parts), .any(let parts): parts.reduce(1) { $0 + $1.termCount }
        case .not(let part): 1 + part.termCount
        case .compare: 1
        case .among(_, let values): 1 + values.count
        }
    }
}
