import ReactorThreads
import Testing

@testable import ReactorJournal

@Suite("The health of a disk")
struct JournalHealthTests {
    private let error = JournalError.system(SystemFailure(call: "fsync", path: "p", code: 5))
    private let other = JournalError.moved(path: "p")

    @Test("the first failure is kept and reported once")
    func first() throws {
        let health = JournalHealth()
        let told = Guarded<[JournalError]>([])
        health.listen { error in told.withLock { $0.append(error) } }
        try health.check()
        health.report(error)
        health.report(other)
        #expect(!health.recordFailure(other) && !health.isGood)
        #expect(told.withLock { $0 } == [error])
        #expect(failure { try health.check() } == error)
    }

    @Test("a thread that recorded the failure itself is not notified")
    func own() {
        let health = JournalHealth()
        let told = Guarded(0)
        health.listen { _ in told.withLock { $0 += 1 } }
        #expect(health.recordFailure(error))
        #expect(told.withLock { $0 } == 0)
    }
}
