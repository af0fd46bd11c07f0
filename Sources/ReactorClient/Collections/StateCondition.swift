public import ReactorCore
public import ReactorWire

/// A condition on the children's own states, which the daemon evaluates.
///
///     let busy: StateCondition<Run.State> = \.phase == .running && \.progress > 3
///
/// A key path names a field of a state with `@ReactorState`; ``field(_:is:_:)`` names any field by
/// its path. A missing value counts as `nil`: it equals `nil` alone, and is neither less nor greater
/// than another. A field that is an enum compares by the positions of its cases in their
/// declaration, whatever values they have.
public struct StateCondition<State>: Sendable {
    /// The condition, or the reason why it names no field.
    let content: Result<SelectionCondition, Refusal>

    init(_ content: Result<SelectionCondition, Refusal>) { self.content = content }

    /// Compares the field at `path` with a value. The daemon refuses a path that is no field, and a
    /// value of another type.
    public static func field<Value: WireCodable>(
        _ path: WireKey..., is comparison: FieldComparison, _ value: Value
    ) -> StateCondition {
        StateCondition(compare(path, comparison, value))
    }

    /// The field has one of these values.
    public static func among<Value: WireCodable>(
        _ field: KeyPath<State, Value>, _ values: [Value]
    ) -> StateCondition where State: TrackedState {
        StateCondition(
            Result { () throws(Refusal) in
                let path = try State.wirePath(of: field)
                var encoded: [WireValue] = []
                for value in values { encoded.append(try wireValue(of: value)) }
                return .among(field: path, values: encoded)
            })
    }

    fileprivate static func compare<Value: WireCodable>(
        _ path: [WireKey], _ comparison: FieldComparison, _ value: Value
    ) -> Result<SelectionCondition, Refusal> {
        Result { () throws(Refusal) in
            .compare(field: path, by: comparison, with: try wireValue(of: value))
        }
    }

    private static func wireValue(of value: some WireCodable) throws(Refusal) -> WireValue {
        do throws(WireError) {
            return try WireValue(encoding: value)
        } catch {
            throw Refusal(.decode, "a condition's value: \(error)")
        }
    }

    fileprivate static func compare<Value: WireCodable>(
        _ field: KeyPath<State, Value>, _ comparison: FieldComparison, _ value: Value
    ) -> StateCondition where State: TrackedState {
        StateCondition(
            Result { () throws(Refusal) in try State.wirePath(of: field) }
                .flatMap { compare($0, comparison, value) })
    }

    fileprivate static func combine(
        _ parts: [StateCondition], _ make: ([SelectionCondition]) -> SelectionCondition
    ) -> StateCondition {
        StateCondition(
            Result { () throws(Refusal) in
                var contents: [SelectionCondition] = []
                for part in parts { contents.append(try part.content.get()) }
                return make(contents)
            })
    }
}

extension TrackedState {
    /// The path on the wire of a recorded field.
    fileprivate static func wirePath(
        of field: PartialKeyPath<Self>
    ) throws(Refusal) -> [WireKey] {
        if let known = trackedFields.first(where: { $0.path == field }) { return [known.name] }
        throw Refusal(
            .path,
            "the key path \(field) leads to no recorded field of \(Self.self): name the field by its "
                + "path on the wire, as in .field(\"progress\", is: .greater, 3)")
    }
}

// MARK: - Operators
/// The field has this value.
public func == <State: TrackedState, Value: WireCodable>(
    field: KeyPath<State, Value>, value: Value
) -> StateCondition<State> { .compare(field, .equal, value) }

/// The field has another value than this.
public func != <State: TrackedState, Value: WireCodable>(
    field: KeyPath<State, Value>, value: Value
) -> StateCondition<State> { .compare(field, .unequal, value) }

/// The field's value is below this.
public func < <State: TrackedState, Value: WireCodable & Comparable>(
    field: KeyPath<State, Value>, value: Value
) -> StateCondition<State> { .compare(field, .less, value) }

/// The field's value is this or below.
public func <= <State: TrackedState, Value: WireCodable & Comparable>(
    field: KeyPath<State, Value>, value: Value
) -> StateCondition<State> { .compare(field, .lessOrEqual, value) }

/// The field's value is above this.
public func > <State: TrackedState, Value: WireCodable & Comparable>(
    field: KeyPath<State, Value>, value: Value
) -> StateCondition<State> { .compare(field, .greater, value) }

/// The field's value is this or above.
public func >= <State: TrackedState, Value: WireCodable & Comparable>(
    field: KeyPath<State, Value>, value: Value
) -> StateCondition<State> { .compare(field, .greaterOrEqual, value) }

extension StateCondition {
    /// Both conditions hold.
    public static func && (left: StateCondition, right: StateCondition) -> StateCondition {
        combine([left, right]) { .all($0) }
    }

    /// One of the conditions holds.
    public static func || (left: StateCondition, right: StateCondition) -> StateCondition {
        combine([left, right]) { .any($0) }
    }

    /// The condition does not hold.
    public static prefix func ! (condition: StateCondition) -> StateCondition {
        combine([condition]) { .not($0[0]) }
    }
}

/// A part of the order in which a selection shows children.
public struct StateOrder<State>: Sendable {
    let content: Result<SelectionOrder, Refusal>

    private init(_ field: PartialKeyPath<State>, descending: Bool) where State: TrackedState {
        content = Result { () throws(Refusal) in
            SelectionOrder(field: try State.wirePath(of: field), descending: descending)
        }
    }

    private init(_ path: [WireKey], descending: Bool) {
        content = .success(SelectionOrder(field: path, descending: descending))
    }

    /// Children with lower values of a field first; those without a value come before all.
    public static func ascending(_ field: PartialKeyPath<State>) -> StateOrder
    where State: TrackedState { StateOrder(field, descending: false) }

    /// Children with higher values of a field first; those without a value come after all.
    public static func descending(_ field: PartialKeyPath<State>) -> StateOrder
    where State: TrackedState { StateOrder(field, descending: true) }

    /// By the key, in the order of ``KeyRange``.
    public static func key(isDescending: Bool = false) -> StateOrder {
        StateOrder([], descending: isDescending)
    }

    /// By the field at a path on the wire; without a path, by the key.
    public static func field(_ path: WireKey..., isDescending: Bool = false) -> StateOrder {
        StateOrder(path, descending: isDescending)
    }
}

/// A range of the keys of a collection, both ends included. They compare by their values if the
/// keys of the daemon's collection are integers, else by the bytes of their texts.
public struct KeyRange: Sendable {
    let bounds: KeyBounds

    /// The keys from `lowest` to `highest`; `nil` is no bound.
    public static func between<Key: ChildKey>(_ lowest: Key?, _ highest: Key?) -> KeyRange {
        KeyRange(
            bounds: KeyBounds(
                from: lowest.map { WireKey($0.wireKeyText) },
                through: highest.map { WireKey($0.wireKeyText) }))
    }
}

extension Selection {
    /// Makes the selection of typed parts.
    init<State>(
        _ keys: KeyRange?, _ condition: StateCondition<State>?, _ order: [StateOrder<State>],
        _ first: Int?
    ) throws(ClientError) {
        do throws(Refusal) {
            var parts: [SelectionOrder] = []
            for part in order { parts.append(try part.content.get()) }
            self.init(
                keys: keys?.bounds, filter: try condition?.content.get(), order: parts,
                first: first.map { UInt64(max($0, 0)) })
        } catch {
            throw .refused(error)
        }
    }
}
