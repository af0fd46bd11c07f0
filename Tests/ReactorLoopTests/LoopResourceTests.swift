import ReactorLoop
import Testing

@Suite struct LoopResourceTests {
    @Test("an open resource lives without other references, and is released after its close")
    func isRetainedWhileOpen() throws {
        let loop = try EventLoop()
        defer { loop.close() }
        weak var timer: LoopTimer?
        var count = 0
        do {
            let made = try LoopTimer(on: loop)
            made.onFire = { count += 1 }
            made.start(after: .zero)
            timer = made
        }
        try loop.turn { count == 1 }
        #expect(timer != nil)
        timer?.close()
        timer?.close()
        #expect(timer?.isClosed != false)
        loop.turn(.noWait)
        #expect(timer == nil)
    }

    @Test("a resource closed in another's last callback, while the loop closes, is reported once")
    func closesInAChain() throws {
        let loop = try EventLoop()
        let (one, other) = try loop.pair()
        var closed: [String] = []
        one.onClosed = { _ in
            closed.append("one")
            other.close()
        }
        other.onClosed = { _ in closed.append("other") }
        one.close()
        loop.close()
        #expect(closed.sorted() == ["one", "other"])
    }
}
