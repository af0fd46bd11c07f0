import Observation
import ReactorThreads

@testable import ReactorClient

/// The values that callbacks received, in order, for a test that waits for them.
final class Notes<Element: Sendable>: Sendable {
    private let elements = Guarded<[Element]>([])
    private let changed = ChangeSignal()

    var all: [Element] { elements.withLock { $0 } }

    func add(_ element: Element) {
        elements.withLock { $0.append(element) }
        changed.publish()
    }

    /// Waits until there are `count` values, or the test's time is over.
    @discardableResult
    func until(_ count: Int) async -> [Element] {
        while !Task.isCancelled {
            let version = changed.version
            let all = all
            if all.count >= count { return all }
            await changed.change(after: version)
        }
        return all
    }
}

extension Notes {
    /// Adds an element at the next change of the values that `read` reads.
    func add(_ element: Element, onChangeOf read: () -> Void) {
        withObservationTracking(read) { [self] in add(element) }
    }
}

/// A gate at which a task waits until a test opens it.
final class Gate: Sendable {
    private let passed = Notes<Bool>()

    func open() { passed.add(true) }

    func pass() async { await passed.until(1) }
}

extension Mirror {
    /// Waits until `condition` holds, or the test's time is over.
    func until(_ condition: (Mirror) -> Bool) async {
        while !Task.isCancelled {
            let version = changed.version
            if condition(self) { return }
            await changed.change(after: version)
        }
    }
}
