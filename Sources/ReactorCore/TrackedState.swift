/// A state that knows which of its fields were changed.
///
/// Conform with ``ReactorState()``.
public protocol TrackedState {
    /// What was changed since the last call for `part`, which starts the record anew.
    ///
    /// *Cost*: O(fields and touched keys).
    mutating func drainChanges(as part: StatePart) -> StateChanges

    /// The fields whose changes are recorded.
    static var trackedFields: [TrackedField<Self>] { get }
}

extension TrackedState {
    /// What was changed since the last call, which starts the record anew.
    ///
    /// *Cost*: O(fields and touched keys).
    public mutating func drainChanges() -> StateChanges { drainChanges(as: .whole) }

    /// What was changed since somebody drained the record, which stays as it is.
    ///
    /// *Cost*: copies the state.
    public var changes: StateChanges {
        var copy = self
        return copy.drainChanges()
    }
}

/// A field of a ``TrackedState``.
public struct TrackedField<State>: Sendable {
    /// Largest index: all fields from here on share it, and count as changed together.
    public static var indexMax: Int { 62 }

    /// Place among the fields.
    public let index: Int
    /// Name, as it is on the wire.
    public let name: WireKey
    /// Where the field is in a state.
    public let path: any PartialKeyPath<State> & Sendable
    /// Whether observers are not told of its changes.
    public let isIgnored: Bool

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

/// Has a struct record which of its fields are changed, as a ``TrackedState``.
///
///     @ReactorState
///     struct State {
///         var count = 0
///         var entries: Keyed<WireKey, Int> = [:]
///     }
///
/// Then a client that watches the state's value is sent what changed instead of the whole, and a
/// mirror wakes those alone who read a field that changed. A field whose type is recorded as well is
/// told by what of it changed, however deep. Each stored variable gets accessors that
/// mark it; the marks are no part of equality, hashing or coding. A number, a truth
/// value or a text that is set to what it was is not marked; any other field that is set, or changed
/// in place, is.
///
/// The accessors make two fields one access: to exchange them, go through a constant, not `swap`.
/// Constants and computed properties are left alone; what ``Ignored()`` stands on is recorded for
/// the wire, and observers are not told.
@attached(memberAttribute)
@attached(member, names: named(_marks), named(drainChanges), named(trackedFields))
@attached(extension, conformances: TrackedState)
public macro ReactorState() = #externalMacro(module: "ReactorMacros", type: "ReactorStateMacro")

/// The accessors of a recorded field; ``ReactorState()`` puts it there.
@attached(accessor, names: named(init), named(get), named(set), named(_modify))
@attached(peer, names: prefixed(_))
public macro ReactorStateField(_ index: Int) =
    #externalMacro(module: "ReactorMacros", type: "ReactorStateFieldMacro")

/// A field whose changes observers are not told of: reading it from a mirror registers nothing, and
/// a change of it alone wakes nobody. It is on the wire like any other.
@attached(peer)
public macro Ignored() =
    #externalMacro(module: "ReactorMacros", type: "ReactorStateMarkerMacro")
