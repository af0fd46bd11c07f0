import ReactorThreads
import Testing

@testable import ReactorLoop

@Suite struct LoopDoorbellTests {
    @Test("one ring from outside causes one turn for all jobs queued by then")
    func coalesces() throws {
        let loop = try EventLoop()
        defer { loop.close() }
        let ran = Mailbox<Int> {}
        for number in 0..<1_000 { loop.post { ran.post(number) } }
        #expect(!loop.doorbell.isRung)
        loop.turn(.wait)
        #expect(loop.turnCount == 1)
        #expect(ran.drain() == Array(0..<1_000))
    }

    @Test("a job posted within a turn rings without a system call")
    func ringsFromWithin() throws {
        let loop = try EventLoop()
        defer { loop.close() }
        let doorbell = loop.doorbell
        let rung = Mailbox<Bool> {}
        loop.post {
            rung.post(doorbell.isRung)
            _ = doorbell.post(.call {})
            rung.post(doorbell.isRung)
        }
        loop.turn(.wait)
        #expect(rung.drain() == [false, true])
    }

    @Test("a stop request is taken once, and a closed doorbell refuses jobs")
    func stopsOnceAndCloses() throws {
        let loop = try EventLoop()
        let doorbell = loop.doorbell
        doorbell.requestStop()
        doorbell.requestStop()
        #expect(doorbell.stopRequest.take())
        #expect(!doorbell.stopRequest.take())
        loop.close()
        #expect(!doorbell.post(.call {}))
        doorbell.requestStop()
    }
}
