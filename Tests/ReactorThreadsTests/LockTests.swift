import ReactorThreads
import Testing

@Suite struct LockTests {
    @Test("four threads that count under a lock lose no count")
    func countsUnderTheLock() throws {
        let counter = Counter()
        let threads = try (0..<4).map { index in
            try WorkThread(name: "lock-\(index)") {
                for _ in 0..<50_000 { counter.increment() }
            }
        }
        for thread in threads { thread.join() }
        #expect(counter.value == 200_000)
    }

    @Test("a body that throws leaves the lock free")
    func throwingBodyUnlocks() {
        struct Refusal: Error, Equatable {}
        let lock = Lock()
        #expect(throws: Refusal()) {
            try lock.withLock { () throws(Refusal) in throw Refusal() }
        }
        #expect(lock.withLock { 7 } == 7)
    }

    @Test("a non-waiting caller learns that the lock is taken, and does not run its body")
    func ifFree() throws {
        let lock = Lock()
        #expect(lock.withLockIfFree { 7 } == 7)
        let guarded = Guarded(1, by: lock)
        let refusals = Counter()
        try lock.withLock {
            let other = try WorkThread(name: "other") {
                if lock.withLockIfFree({ true }) == nil { refusals.increment() }
                if guarded.withLockIfFree({ $0 += 1 }) == nil { refusals.increment() }
            }
            other.join()
        }
        #expect(refusals.value == 2)
        #expect(guarded.withLockIfFree { $0 += 1 } != nil)
        #expect(guarded.withLock { $0 } == 2)
    }
}

/// A counter protected only by a lock.
final class Counter: @unchecked Sendable {
    private let lock = Lock()
    private var count = 0

    func increment() {
        lock.withLock { count += 1 }
    }

    var value: Int { lock.withLock { count } }
}
