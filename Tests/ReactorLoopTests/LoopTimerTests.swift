import ReactorLoop
import Testing

@Suite struct LoopTimerTests {
    @Test("a timer fires once, not before it is due")
    func firesOnce() throws {
        let loop = try EventLoop()
        defer { loop.close() }
        let timer = try LoopTimer(on: loop)
        var firedAt: [UInt64] = []
        timer.onFire = { firedAt.append(loop.now) }
        let start = loop.now
        timer.start(after: .milliseconds(5))
        #expect(timer.isStarted)
        try loop.turn { !firedAt.isEmpty }
        // libuv counts milliseconds of a coarse clock, which may be one tick behind.
        #expect(firedAt[0] - start >= 1_000_000)
        #expect(!timer.isStarted)
        loop.turn(.noWait)
        #expect(firedAt.count == 1)
    }

    @Test("a repeating timer fires until it is stopped, also by its own callback")
    func repeats() throws {
        let loop = try EventLoop()
        defer { loop.close() }
        let timer = try LoopTimer(on: loop)
        var count = 0
        timer.onFire = {
            count += 1
            if count == 3 { timer.stop() }
        }
        timer.start(after: .zero, every: .milliseconds(1))
        try loop.turn { !timer.isStarted }
        #expect(count == 3)
    }

    @Test("a timer closed by its own callback does not fire again and releases its callback")
    func closesInside() throws {
        final class Owner {}
        let loop = try EventLoop()
        defer { loop.close() }
        weak var released: Owner?
        do {
            let owner = Owner()
            released = owner
            let timer = try LoopTimer(on: loop)
            timer.onFire = {
                _ = owner
                timer.close()
                timer.start(after: .zero)
                timer.stop()
            }
            timer.start(after: .zero, every: .milliseconds(1))
        }
        try loop.turn { released == nil }
        #expect(released == nil)
    }
}
