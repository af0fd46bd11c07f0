import ReactorBytes
import ReactorJournal
import Testing

@Suite("The in-memory journal")
struct MemoryJournalTests {
    @Test("batches are appended at once and in order")
    func appendsAtOnce() {
        let journal = MemoryJournal()
        var appended: [UInt64] = []
        journal.onAppended = { appended.append($0) }
        for turn in 1...3 as ClosedRange<UInt64> {
            journal.append(
                Batch(
                    turn: turn, epoch: 1, after: (turn - 1) * 10, sequence: turn * 10))
        }
        #expect(appended == [1, 2, 3])
        #expect(journal.sequence == 30)
    }
}
