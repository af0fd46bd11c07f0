import ReactorThreads

/// A value that says something each time it is assigned, even if it is assigned the same: an alert,
/// a "scroll to the end".
///
///     struct State {
///         @Pulse var alert: String? = nil
///     }
///
/// Each assignment counts, also one in a state that has just replaced another as a whole. A listener,
/// through ``Store/pulse(_:_:)`` or a mirror's `pulse`, is told of each; one that comes later, or
/// comes back, is not told of those before.
///
/// *Shape*: on the wire `{"count": 3, "value": ...}`.
@propertyWrapper
public struct Pulse<Value> {
    /// How often a value was assigned, modulo 2⁶⁴.
    public internal(set) var count: UInt64 = 0
    /// Number of the last assignment among all of this process; 0 if there was none here.
    public private(set) var assignment: UInt64 = 0
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
    /// Number of the last assignment among all of this process; 0 if there was none here.
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

/// A value with a count that moves when it is assigned: ``Pulse`` and ``Stamped``.
public protocol Counted<Value> {
    associatedtype Value
    /// How often a value was assigned, modulo 2⁶⁴.
    var count: UInt64 { get }
    /// Number of the last assignment among all of this process, no part of the value's equality or
    /// coding; 0 where the value was never assigned here, but made or read.
    var assignment: UInt64 { get }
    var value: Value { get }
}

extension Counted {
    /// Counts no assignments of the process: then ``count`` alone tells them apart.
    public var assignment: UInt64 { 0 }
}

extension Pulse: Counted {}
extension Stamped: Counted {}

/// Numbers the assignments of all counted values of the process.
private enum Assignments {
    private static let last = Guarded<UInt64>(0)

    /// The number of an assignment that is made now.
    static func next() -> UInt64 {
        last.withLock { last in
            last += 1
            return last
        }
    }
}

/// Tells for one listener whether a counted value was assigned since it looked last.
package struct PulseListener: Sendable {
    private var count: UInt64
    private var assignment: UInt64

    /// Starts with what is there now.
    package init(_ pulse: some Counted) {
        count = pulse.count
        assignment = pulse.assignment
    }

    /// Whether the value was assigned since the last look.
    package mutating func isTold(of pulse: some Counted) -> Bool {
        defer {
            count = pulse.count
            assignment = max(assignment, pulse.assignment)
        }
        // The count starts at 0 again in a state that replaces another, the number never does.
        if pulse.assignment > 0 { return pulse.assignment > assignment }
        // A value that was read from bytes has no number; one that was never assigned is no news.
        return pulse.count > 0 && pulse.count != count
    }
}
