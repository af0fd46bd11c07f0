import ReactorThreads
import Testing

@Suite struct ConfinedTests {
    @Test("a confined value goes through another thread and comes back as the same object")
    func carriesAnObject() throws {
        final class Session { var replies = 0 }
        let session = Session()
        let confined = Confined(session)
        let mailbox = Mailbox<@Sendable () -> Void> {}
        let thread = try WorkThread(name: "journal") {
            mailbox.post { confined.open().replies += 1 }
        }
        thread.join()
        for job in mailbox.drain() { job() }
        #expect(session.replies == 1)
        #expect(confined.open() === session)
    }

    #if DEBUG
        @Test("a debug build traps if a thread that does not own the value uses it")
        func checksTheOwner() async {
            let isOwner = Confined(7) { true }
            #expect(isOwner.open() == 7)
            await #expect(processExitsWith: .failure) { _ = Confined(7) { false }.open() }
        }
    #endif
}
