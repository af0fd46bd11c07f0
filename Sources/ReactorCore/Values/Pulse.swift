import ReactorThreads

/// A value that signals each assignment, even of an equal value: an alert, a "scroll to the end".
///
///     struct State {
///         @Pulse var alert: String? = nil
///     }
///
/// Each assignment counts, also one in a state that has just replaced another as a whole. Each
/// calls the listeners, added with ``Store/pulse(_:_:)`` or a mirror's `pulse`; a listener that is
/// added later, or again, is not called for earlier assignments.
///
/// *Shape*: on the wire `{"count": 3, "value": ...}`.
@propertyWrapper
public struct Pulse<Value> {
    /// Number of assignments, modulo 2⁶⁴.
    public internal(set) var count: UInt64 = 0
    /// Process-wide number of the last assignment; 0 if this process made none.
    public private(set) var assignment: UInt64 = 0
    private var current: Value
    /// Whether it was assigned since the last drain of its state's changes.
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
        assignment = Assignments.next()
        isMarked = true
    }

    mutating func drain() -> Bool {
        defer { isMarked = false }
        return isMarked
    }
}

extension Pulse: Sendable where Value: Sendable {}

extension Pulse: Equatable where Value: Equatable {
    /// Equal if both the values and the counts are.
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

/// A value with a count of its assignments, which alone decides equality: a cheap "has it changed"
/// for values that are large or not comparable.
///
///     var report = Stamped(Report())
///     state.report.value = next       // differs from before, even if `next` is the same
///
/// The count wraps around and never traps. Other libraries call it a revision; in this one,
/// ``Revision`` refers to the whole tree.
public struct Stamped<Value> {
    /// Number of assignments, modulo 2⁶⁴.
    public internal(set) var count: UInt64 = 0
    /// Process-wide number of the last assignment; 0 if this process made none.
    public private(set) var assignment: UInt64 = 0
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
            rise()
        }
        _modify {
            defer { rise() }
            yield &current
        }
    }

    private mutating func rise() {
        count &+= 1
        assignment = Assignments.next()
    }
}

extension Stamped: Sendable where Value: Sendable {}

extension Stamped: Hashable {
    public static func == (left: Stamped, right: Stamped) -> Bool { left.count == right.count }

    public func hash(into hasher: inout Hasher) { hasher.combine(count) }
}

/// A value that counts its assignments: ``Pulse`` and ``Stamped``.
public protocol Counted<Value> {
    associatedtype Value
    /// Number of assignments, modulo 2⁶⁴.
    var count: UInt64 { get }
    /// Process-wide number of the last assignment, which equality and coding ignore; 0 where the
    /// value was only created or decoded.
    var assignment: UInt64 { get }
    var value: Value { get }
}

extension Counted {
    /// 0: such values are distinguished by ``count`` and, if they are `Equatable`, by themselves.
    public var assignment: UInt64 { 0 }
}

extension Pulse: Counted {}
extension Stamped: Counted {}

/// Numbers the assignments of all counted values of the process.
private enum Assignments {
    private static let last = Guarded<UInt64>(0)

    /// The next number.
    static func next() -> UInt64 {
        last.withLock { last in
            last += 1
            return last
        }
    }
}

/// Detects for one listener whether a counted value was assigned since the last look.
package struct PulseListener<Pulsing: Counted> {
    private var count: UInt64
    private var assignment: UInt64
    // Only of a value without a number: a copy of another would make its next change in place copy
    // it. A comparison of a large value costs more than one of numbers.
    /// The value at the last look, if it had no ``Counted/assignment``.
    private var unnumbered: Pulsing.Value?

    /// Starts with the current assignment.
    package init(_ pulse: Pulsing) {
        count = pulse.count
        assignment = pulse.assignment
        unnumbered = pulse.assignment == 0 ? pulse.value : nil
    }

    /// Whether the value was assigned since the last look.
    package mutating func isTold(of pulse: Pulsing) -> Bool {
        defer {
            count = pulse.count
            assignment = max(assignment, pulse.assignment)
            unnumbered = pulse.assignment == 0 ? pulse.value : nil
        }
        // Replacing the whole state restarts the count at 0, but not the process-wide number.
        if pulse.assignment > 0 { return pulse.assignment > assignment }
        // A decoded value has no number. A value with count 0 was never assigned.
        guard pulse.count > 0 else { return false }
        // A state that replaces another may have reached the same count.
        return pulse.count != count || isOther(pulse.value)
    }

    /// Whether the value of the last look is known to differ from `value`. One that differs from
    /// itself, such as a NaN, never is.
    private func isOther(_ value: Pulsing.Value) -> Bool {
        guard let unnumbered, let type = Pulsing.Value.self as? any Equatable.Type else {
            return false
        }
        return type.areEqual(value, value) && !type.areEqual(unnumbered, value)
    }
}

extension Equatable {
    /// Whether two values of this type are equal.
    fileprivate static func areEqual(_ left: Any, _ right: Any) -> Bool {
        left as? Self == right as? Self
    }
}
