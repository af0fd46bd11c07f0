import Glibc
import ReactorLoop
import Testing

@Suite("The reader of a pipe", .timeLimit(.minutes(10)))
struct PipeReaderTests {
    @Test("the end of a pipe's reader is detected without a write")
    func ends() {
        var ends: [Int32] = [0, 0]
        #expect(unsafe pipe(&ends) == 0)
        close(ends[0])
        PipeReader.waitForEnd(of: ends[1])
        close(ends[1])
    }
}
