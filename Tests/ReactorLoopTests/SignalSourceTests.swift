import Glibc
import ReactorLoop
import Testing

@Suite struct SignalSourceTests {
    @Test("a signal to the process calls the callback, instead of its default action")
    func arrives() throws {
        let loop = try EventLoop()
        defer { loop.close() }
        let source = try SignalSource(.user1, on: loop)
        var count = 0
        source.onSignal = { count += 1 }
        kill(getpid(), SIGUSR1)
        try loop.turn { count == 1 }
        #expect(source.signal == .user1)
    }

    @Test("a number that is not a signal is refused")
    func refusesNoSignal() throws {
        let loop = try EventLoop()
        defer { loop.close() }
        let error = #expect(throws: LoopError.self) {
            try SignalSource(Signal(rawValue: 0), on: loop)
        }
        #expect(error?.failure?.name == "EINVAL")
    }
}
