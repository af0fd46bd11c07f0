import ReactorThreads
import Testing

@Suite("a doorbell to sleep on")
struct BellTests {
    @Test("rings before a wait are one, and every wait needs one")
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
        // because nothing is left of the two, this returns only once the other thread has rung
        answer.ring()
        bell.wait()
        thread.join()
    }

    @Test("a wait with an end says whether somebody rang, and takes the ring")
    func bounded() {
        let bell = Bell()
        #expect(!bell.wait(milliseconds: 1))
        bell.ring()
        #expect(bell.wait(milliseconds: 60_000))
        #expect(!bell.wait(milliseconds: 0))
    }
}
