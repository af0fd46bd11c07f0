import ReactorThreads
import Testing

@Suite("a doorbell")
struct BellTests {
    @Test("several rings before a wait count as one, and every wait needs a ring")
    func remembered() throws {
        let bell = Bell()
        let answer = Bell()
        bell.ring()
        bell.ring()
        bell.wait()
        let thread = try WorkThread(name: "ringer") {
            answer.wait()
            bell.ring()
        }
        // No ring is left, so this returns only after the other thread has rung.
        answer.ring()
        bell.wait()
        thread.join()
    }

    @Test("a wait with a timeout returns whether a ring arrived, and consumes it")
    func bounded() {
        let bell = Bell()
        #expect(!bell.wait(milliseconds: 1))
        bell.ring()
        #expect(bell.wait(milliseconds: 60_000))
        #expect(!bell.wait(milliseconds: 0))
    }
}
