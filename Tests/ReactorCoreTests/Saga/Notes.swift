import Synchronization

/// Notes of several tasks.
final class Notes: Sendable {
    private let texts = Mutex<[String]>([])

    var all: [String] { texts.withLock { $0 } }
    func add(_ text: String) { texts.withLock { $0.append(text) } }
}

/// A counter shared by several tasks.
final class Tick: Sendable {
    private let value = Mutex(0)

    var count: Int { value.withLock { $0 } }
    func up() { value.withLock { $0 += 1 } }
}

/// Stores values of a test.
final class Kept<Value: Sendable>: Sendable {
    private let values = Mutex<[Value]>([])

    var all: [Value] { values.withLock { $0 } }
    func keep(_ value: Value) { values.withLock { $0.append(value) } }
}
