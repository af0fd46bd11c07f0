import ReactorBytes
import Testing

@Suite("Shared words")
struct SharedWordsTests {
    @Test("words are zero at first, and then have the last written value")
    func words() {
        let words = SharedWords(count: 3)
        #expect((0..<3).allSatisfy { words[$0] == 0 })
        words[2] = .max
        words[0] = 7
        #expect(words[0] == 7 && words[1] == 0 && words[2] == .max)
    }

    @Test("the release closure runs when the last reference is gone")
    func released() {
        var isReleased = false
        let pointer = UnsafeMutablePointer<UInt64>.allocate(capacity: 1)
        unsafe pointer.initialize(to: 3)
        do {
            let words = unsafe SharedWords(at: pointer, count: 1) {
                unsafe pointer.deallocate()
                isReleased = true
            }
            #expect(words[0] == 3)
        }
        #expect(isReleased)
    }

    @Test("an index out of bounds ends the process")
    func bounds() async {
        await #expect(processExitsWith: .failure) { _ = SharedWords(count: 1)[1] }
    }
}
