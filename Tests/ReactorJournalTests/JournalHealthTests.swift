import ReactorThreads
import Testing

@testable import ReactorJournal

@Suite("a disk's health")
struct JournalHealthTests {
    private let error = JournalError.system(SystemFailure(call: "fsync", path: "p", code: 5))
    private let other = JournalError.moved(path: "p")

    @Test("the first failure stays, and is told once")
    func first() throws {
        let health = JournalHealth()
        let told = Guarded<[JournalError]>([])
        health.listen { error in told.withLock { $0.append(error) } }
        try health.check()
        health.report(error)
        health.report(other)
        #expect(!health.breaks(by: other) && !health.isGood)
        #expect(told.withLock { $0 } == [error])
        #expect(failure { try health.check() } == error)
    }

    @Test("who has told of it himself is not told")
    func own() {
        let health = JournalHealth()
        let told = Guarded(0)
        health.listen { _ in told.withLock { $0 += 1 } }
        #expect(health.breaks(by: error))
        #expect(told.withLock { $0 } == 0)
    }
}
