/// A value that remembers its earlier values, each with the action that made it.
///
///     struct State {
///         var text: Undoable<String> = Undoable("", limit: 50)
///     }
///     state.text.set("hello", by: origin)
///     state.text.undo()
///
/// A change is made by an ``Origin``: the client and its action, `context.cause` in `mutate`, which
/// the mutation carries to `reduce`. There is one history for all clients, so that two ways of
/// undoing are possible: any client takes back the last change, whoever made it; or a client takes
/// back its own change, as long as no other client has changed the value since. `reduce` cannot
/// refuse, so `mutate` asks ``checkUndo(by:)``.
///
/// Earlier values share their storage with the present one, as far as the type copies on write.
///
/// *Shape*: on the wire `{"limit": 50, "value": ..., "origin": [client, ordinal], "past": [...],
/// "future": [...]}`.
public struct Undoable<Value> {
    /// The present value.
    public private(set) var value: Value
    /// The change that made the value; ``Origin/daemon`` for the first value.
    public private(set) var origin: Origin
    /// Maximum number of earlier values; at the limit, the oldest is dropped.
    public let limit: Int
    /// The earlier values, oldest first.
    public private(set) var past: [UndoEntry<Value>]
    /// The undone values; the last is the next that ``redo()`` returns to.
    public private(set) var future: [UndoEntry<Value>]

    /// Holds a first value, and remembers up to `limit` earlier ones.
    ///
    /// *Traps*: if `limit` is not positive.
    public init(_ value: Value, limit: Int = 50) {
        precondition(limit > 0, "an undoable value with a limit of \(limit) can undo nothing")
        self.init(value, .daemon, limit, past: [], future: [])
    }

    private init(
        _ value: Value, _ origin: Origin, _ limit: Int, past: [UndoEntry<Value>],
        future: [UndoEntry<Value>]
    ) {
        self.value = value
        self.origin = origin
        self.limit = limit
        self.past = past
        self.future = future
    }

    // MARK: Changing

    /// Replaces the value, and forgets the undone ones.
    public mutating func set(_ value: Value, by origin: Origin) {
        remember()
        self.value = value
        self.origin = origin
    }

    /// Changes the value in place, and forgets the undone ones.
    public mutating func change(by origin: Origin, _ body: (inout Value) -> Void) {
        remember()
        body(&value)
        self.origin = origin
    }

    private mutating func remember() {
        past.append(UndoEntry(value: value, origin: origin))
        if past.count > limit { past.removeFirst(past.count - limit) }
        future = []
    }

    // MARK: Undoing

    /// Whether there is an earlier value.
    public var canUndo: Bool { !past.isEmpty }

    /// Whether there is an undone value.
    public var canRedo: Bool { !future.isEmpty }

    /// Whether `client` made the last change, and can take it back.
    public func canUndo(by client: UInt64) -> Bool { canUndo && origin.client == client }

    /// Whether `client` made the change that was undone last.
    public func canRedo(by client: UInt64) -> Bool { future.last?.origin.client == client }

    /// Returns to the value before the last change. Without one, it does nothing and returns false.
    @discardableResult
    public mutating func undo() -> Bool { step(from: \.past, to: \.future) }

    /// Returns to the value that was undone last. Without one, it does nothing and returns false.
    @discardableResult
    public mutating func redo() -> Bool { step(from: \.future, to: \.past) }

    private mutating func step(
        from source: WritableKeyPath<Undoable, [UndoEntry<Value>]>,
        to target: WritableKeyPath<Undoable, [UndoEntry<Value>]>
    ) -> Bool {
        guard let entry = self[keyPath: source].popLast() else { return false }
        self[keyPath: target].append(UndoEntry(value: value, origin: origin))
        value = entry.value
        origin = entry.origin
        return true
    }

    // MARK: Refusing

    /// Checks in `mutate` that there is a change to undo; with `client`, that this client made it.
    ///
    /// *Throws*: ``Rejection``: `nothing_to_undo` without an earlier value, `changed_since` if
    /// another client made the last change.
    public func checkUndo(by client: UInt64? = nil) throws(Rejection) {
        guard canUndo else { throw Rejection("nothing_to_undo", "no change is left to undo") }
        guard let client, origin.client != client else { return }
        throw Rejection(
            "changed_since",
            "client \(origin.client) made the last change, so client \(client) cannot undo its own")
    }

    /// Checks in `mutate` that there is a change to redo; with `client`, that this client made it.
    ///
    /// *Throws*: ``Rejection``: `nothing_to_redo` without an undone value, `not_own` if another
    /// client made it.
    public func checkRedo(by client: UInt64? = nil) throws(Rejection) {
        guard let next = future.last else {
            throw Rejection("nothing_to_redo", "no undone change is left to redo")
        }
        guard let client, next.origin.client != client else { return }
        throw Rejection(
            "not_own", "client \(next.origin.client) made the undone change, not client \(client)")
    }
}

/// An earlier or undone value, with the change that made it.
@WireCodable
public struct UndoEntry<Value> {
    /// The value.
    public var value: Value
    /// The client and the action; ``Origin/daemon`` for the first value.
    public var origin: Origin
}

extension Undoable: Sendable where Value: Sendable {}
extension Undoable: Equatable where Value: Equatable {}
extension Undoable: Hashable where Value: Hashable {}
extension UndoEntry: Sendable where Value: Sendable {}
extension UndoEntry: Equatable where Value: Equatable {}
extension UndoEntry: Hashable where Value: Hashable {}

// MARK: - Coding

/// The shape of an undoable value on the wire.
@WireCodable
private struct UndoableForm<Value: WireCodable> {
    var limit: Int
    var value: Value
    var origin: Origin
    var past: [UndoEntry<Value>]
    var future: [UndoEntry<Value>]
}

extension Undoable: WireCodable where Value: WireCodable {
    private var form: UndoableForm<Value> {
        UndoableForm(limit: limit, value: value, origin: origin, past: past, future: future)
    }

    public func encode(into writer: inout WireWriter) { form.encode(into: &writer) }

    public func encode(at path: ArraySlice<WireKey>, into writer: inout WireWriter) -> WireReach {
        form.encode(at: path, into: &writer)
    }

    public static func decode(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> Undoable {
        let start = cursor.offset
        let form = try UndoableForm<Value>.decode(bytes, &cursor)
        guard form.limit > 0 else {
            throw WireError(.refused("an undoable value has a limit of \(form.limit)"), at: start)
        }
        return Undoable(
            form.value, form.origin, form.limit, past: Array(form.past.suffix(form.limit)),
            future: form.future)
    }

    public static var wireSchema: WireSchema { UndoableForm<Value>.wireSchema }
}
