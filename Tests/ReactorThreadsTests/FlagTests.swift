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

    @Test("testing a flag does not take it")
    func isSeen() {
        let flag = Flag()
        #expect(!flag.isUp)
        flag.raise()
        #expect(flag.isUp && flag.isUp)
        #expect(flag.take())
        #expect(!flag.isUp)
    }

    @Test("a flag raised on another thread arrives")
    func crossesThreads() throws {
        let flag = Flag()
        let thread = try WorkThread(name: "raiser") { flag.raise() }
        thread.join()
        #expect(flag.take())
    }
}
