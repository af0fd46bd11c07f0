/// A state that records which of its fields changed.
///
/// Conform with ``ReactorState()``.
public protocol TrackedState {
    /// The changes since the last call for `part`; resets the record.
    ///
    /// *Cost*: O(fields and touched keys).
    mutating func drainChanges(as part: StatePart) -> StateChanges

    /// The fields whose changes are recorded.
    static var trackedFields: [TrackedField<Self>] { get }
}

extension TrackedState {
    /// The changes since the last call; resets the record.
    ///
    /// *Cost*: O(fields and touched keys).
    public mutating func drainChanges() -> StateChanges { drainChanges(as: .whole) }

    /// The changes since the last drain; leaves the record as it is.
    ///
    /// *Cost*: copies the state.
    package var changes: StateChanges {
        var copy = self
        return copy.drainChanges()
    }
}

/// The position of a tracked state in a drain: the whole state, or a field of another.
public struct StatePart: Sendable {
    // A state may be copied from one field into another; its marks are valid only in the field for
    // which they were started.
    let owner: UInt64?
    let next: UInt64

    /// A state that is not a field of another.
    public static let whole = StatePart(owner: nil, next: 0)
}

/// A field of a ``TrackedState``.
public struct TrackedField<State>: Sendable {
    /// Largest index: all fields from here on share it, and count as changed together.
    package static var indexMax: Int { 62 }

    /// Index among the fields.
    package let index: Int
    /// Name, as it is on the wire.
    package let name: WireKey
    /// Key path of the field.
    package let path: any PartialKeyPath<State> & Sendable
    /// Whether observers ignore its changes.
    package let isIgnored: Bool

    /// Describes a field.
    public init(
        _ index: Int, _ name: WireKey, _ path: any PartialKeyPath<State> & Sendable,
        isIgnored: Bool = false
    ) {
        self.index = index
        self.name = name
        self.path = path
        self.isIgnored = isIgnored
    }
}

/// Makes a struct record which of its fields change, as a ``TrackedState``.
///
///     @ReactorState
///     struct State {
///         var count = 0
///         var entries: Keyed<WireKey, Int> = [:]
///     }
///
/// A client that watches the state's value then receives the changed parts instead of the whole,
/// and a mirror wakes only readers of a changed field. A field whose type is tracked as well
/// reports its own changed fields, at any depth. Each stored variable gets accessors that mark it;
/// equality, hashing and coding ignore the marks. Setting a number, a truth value or a text to its
/// current value does not mark it; setting or changing in place any other field does.
///
/// Through the accessors, two fields of a state cannot be accessed at once: exchange them through a
/// constant, not with `swap`. The macro ignores constants and computed properties. Fields with
/// ``Ignored()`` are recorded for the wire, but observers ignore them.
@attached(memberAttribute)
@attached(member, names: named(_marks), named(drainChanges), named(trackedFields))
@attached(extension, conformances: TrackedState)
public macro ReactorState() = #externalMacro(module: "ReactorMacros", type: "ReactorStateMacro")

/// Adds the accessors of a recorded field; ``ReactorState()`` attaches it.
@attached(accessor, names: named(init), named(get), named(set), named(_modify))
@attached(peer, names: prefixed(_))
public macro ReactorStateField(_ index: Int, isInlinable: Bool = true) =
    #externalMacro(module: "ReactorMacros", type: "ReactorStateFieldMacro")

/// Excludes a field from observation: reading it from a mirror registers nothing, and a change of
/// this field alone wakes no observer. On the wire it is like any other.
@attached(peer)
public macro Ignored() =
    #externalMacro(module: "ReactorMacros", type: "ReactorStateMarkerMacro")
