import Glibc
import ReactorLoop
import Testing

@Suite("the reader of a pipe", .timeLimit(.minutes(10)))
struct PipeReaderTests {
    @Test("its end is noticed though nothing is written")
    func ends() {
        var ends: [Int32] = [0, 0]
        #expect(unsafe pipe(&ends) == 0)
        close(ends[0])
        PipeReader.waitForEnd(of: ends[1])
        close(ends[1])
    }
}
