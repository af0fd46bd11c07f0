import ReactorBytes
import Testing

@testable import ReactorJournal

@Suite("The owner's part of a journal")
struct JournalOwnerStateTests {
    private static let start = JournalPosition(
        number: 3, epoch: 7, sequence: 10, time: 5, chain: 9)

    private static func batch(_ turn: UInt64, after: UInt64) -> Batch {
        Batch(
            turn: turn, epoch: 7, after: after, sequence: after + 2)
    }

    @Test("a batch moves the end by one row and to its own sequence")
    func accepted() {
        let state = JournalOwnerState(after: Self.start)
        state.accept(Self.batch(1, after: 10))
        #expect(state.last.number == 4 && state.last.sequence == 12 && state.last.epoch == 7)
        #expect(state.pendingTurn == nil && !state.isFailed)
    }

    @Test("only the report of the newest turn ends the wait for the journal's thread")
    func reported() {
        let state = JournalOwnerState(after: Self.start)
        var turns: [UInt64] = []
        state.onAppended = { turns.append($0) }
        state.accept(Self.batch(1, after: 10))
        state.wait(for: 1)
        state.accept(Self.batch(2, after: 12))
        state.wait(for: 2)
        state.report(1)
        #expect(state.pendingTurn == 2)
        state.report(2)
        #expect(state.pendingTurn == nil && turns == [1, 2])
    }

    @Test("a full disk moves the end back to the last stored row, until the owner resumes")
    func full() {
        let state = JournalOwnerState(after: Self.start)
        var failures: [JournalFailure] = []
        state.onFailed = { failures.append($0) }
        #expect(!state.resume())
        state.accept(Self.batch(1, after: 10))
        state.wait(for: 1)
        state.fail(.full(turn: 1, message: "full"), keeping: Self.start)
        #expect(state.isFailed && state.last == Self.start && state.pendingTurn == nil)
        #expect(state.resume() && !state.isFailed)
        #expect(failures == [.full(turn: 1, message: "full")])
    }

    @Test("after a failure of the disk the owner cannot resume")
    func broken() {
        let state = JournalOwnerState(after: Self.start)
        var count = 0
        state.onFailed = { _ in count += 1 }
        state.fail(.moved(path: "/data"))
        #expect(state.isFailed && !state.resume() && state.isFailed && count == 1)
    }
}
