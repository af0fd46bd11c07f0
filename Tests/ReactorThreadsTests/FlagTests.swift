import ReactorThreads
import Testing

@Suite struct FlagTests {
    @Test("a raised flag is taken once, however often it was raised")
    func isTakenOnce() {
        let flag = Flag()
        #expect(!flag.take())
        flag.raise()
        flag.raise()
        #expect(flag.take())
        #expect(!flag.take())
    }

    @Test("a flag raised on another thread arrives")
    func crossesThreads() throws {
        let flag = Flag()
        let thread = try WorkThread(name: "raiser") { flag.raise() }
        thread.join()
        #expect(flag.take())
    }
}
