import ReactorThreads
import Testing

@Suite struct ThreadMarkTests {
    @Test("only the thread that entered is inside, until it leaves")
    func isCurrentInside() throws {
        let mark = ThreadMark()
        #expect(!mark.isCurrent)
        mark.enter()
        #expect(mark.isCurrent)
        let answers = Mailbox<Bool> {}
        let thread = try WorkThread(name: "asker") { answers.post(mark.isCurrent) }
        thread.join()
        #expect(answers.drain() == [false])
        mark.leave()
        #expect(!mark.isCurrent)
    }
}
