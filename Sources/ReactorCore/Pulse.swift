/// A value that says something each time it is assigned, even if it is assigned the same: an alert,
/// a "scroll to the end".
///
///     struct State {
///         @Pulse var alert: String? = nil
///     }
///
/// What counts is the count, which moves at every assignment. Who listens, through
/// ``Store/pulse(_:_:)`` or a mirror's `pulse`, is told when it moves; who comes later, or comes
/// back, is not told of what was before.
///
/// *Shape*: on the wire `{"count": 3, "value": ...}`.
@propertyWrapper
public struct Pulse<Value> {
    /// How often a value was assigned, modulo 2⁶⁴.
    public internal(set) var count: UInt64 = 0
    private var current: Value
    /// Whether it was assigned since a state's changes were drained last.
    private var isMarked = true

    /// Holds a value that was never assigned.
    public init(wrappedValue: Value) { current = wrappedValue }

    init(value: Value, count: UInt64) {
        current = value
        self.count = count
    }

    /// The value; assigning it, or changing it in place, counts.
    public var wrappedValue: Value {
        get { current }
        set {
            current = newValue
            rise()
        }
        _modify {
            defer { rise() }
            yield &current
        }
    }

    public var projectedValue: Pulse { self }

    /// The value.
    public var value: Value { current }

    private mutating func rise() {
        count &+= 1
        isMarked = true
    }

    mutating func drain() -> Bool {
        defer { isMarked = false }
        return isMarked
    }
}

extension Pulse: Sendable where Value: Sendable {}

extension Pulse: Equatable where Value: Equatable {
    /// Equal if the same was assigned as often.
    public static func == (left: Pulse, right: Pulse) -> Bool {
        left.count == right.count && left.current == right.current
    }
}

extension Pulse: Hashable where Value: Hashable {
    public func hash(into hasher: inout Hasher) {
        hasher.combine(count)
        hasher.combine(current)
    }
}

/// A value together with a count of its assignments, by which alone it is compared: a cheap
/// "has it changed" for what is large or cannot be compared.
///
///     var report = Stamped(Report())
///     state.report.value = next       // differs from before, even if `next` is the same
///
/// The count wraps around and never traps. What other libraries call a revision; here that word
/// means the whole tree's.
public struct Stamped<Value> {
    /// How often a value was assigned, modulo 2⁶⁴.
    public internal(set) var count: UInt64 = 0
    private var current: Value

    /// Holds a value that was never assigned.
    public init(_ value: Value) { current = value }

    init(value: Value, count: UInt64) {
        current = value
        self.count = count
    }

    /// The value; assigning it, or changing it in place, counts.
    public var value: Value {
        get { current }
        set {
            current = newValue
            count &+= 1
        }
        _modify {
            defer { count &+= 1 }
            yield &current
        }
    }
}

extension Stamped: Sendable where Value: Sendable {}

extension Stamped: Hashable {
    public static func == (left: Stamped, right: Stamped) -> Bool { left.count == right.count }

    public func hash(into hasher: inout Hasher) { hasher.combine(count) }
}

/// A value with a count that moves when it is assigned: ``Pulse`` and ``Stamped``.
public protocol Counted<Value> {
    associatedtype Value
    /// How often a value was assigned, modulo 2⁶⁴.
    var count: UInt64 { get }
    var value: Value { get }
}

extension Pulse: Counted {}
extension Stamped: Counted {}
