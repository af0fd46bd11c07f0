import ReactorThreads
import Synchronization
import Testing

@testable import ReactorJournal

@Suite("The order of a journal's writers")
struct JournalGateTests {
    @Test("a writer that never pauses admits upkeep at its next commit")
    func fair() throws {
        let gate = JournalGate()
        let (isInside, isDone) = (Bell(), Bell())
        let commits = Atomic(0)
        let isOver = Flag()
        let writer = try WorkThread(name: "writer") {
            while !isOver.isUp {
                gate.commit {
                    let count = commits.add(1, ordering: .relaxed).newValue
                    // The upkeep is about to wait, so a commit is in progress during its wait.
                    if count == 1 { isInside.ring() }
                }
            }
            isDone.ring()
        }
        isInside.wait()
        for _ in 1...100 { gate.upkeep {} }
        isOver.raise()
        isDone.wait()
        writer.join()
    }

    @Test("a commit that must not wait is admitted only if no other thread is inside or waiting")
    func free() {
        let gate = JournalGate()
        #expect(gate.commitIfFree { 1 } == 1)
        gate.commit { #expect(gate.commitIfFree { 1 } == nil) }
        gate.upkeep { #expect(gate.commitIfFree { 1 } == nil) }
        #expect(gate.commitIfFree { 2 } == 2)
    }

    @Test("a writer is limited during a trim, and not otherwise")
    func pace() throws {
        let pace = TrimPace(byteCountMax: 100)
        for _ in 1...10 { #expect(pace.admit(1_000)) }
        pace.begin()
        pace.begin()
        #expect(pace.admit(60) && pace.admit(60) && pace.lagByteCount == 120)
        #expect(!pace.admit(1))
        // Another trim is still in progress.
        pace.end()
        #expect(!pace.admit(1))
        let passed = Bell()
        let writer = try WorkThread(name: "writer") {
            pace.wait(for: 7)
            passed.ring()
        }
        pace.end()
        passed.wait()
        writer.join()
        pace.begin()
        #expect(pace.admit(100) && !pace.admit(1))
        // The writer is this far ahead of a long trim, and does not wait for its end.
        pace.trimmed(40)
        #expect(pace.lagByteCount == 60)
        #expect(pace.admit(40) && !pace.admit(1))
        pace.trimmed(1_000)
        #expect(pace.admit(100) && !pace.admit(1))
        pace.stop()
        #expect(pace.admit(1))
    }
}
