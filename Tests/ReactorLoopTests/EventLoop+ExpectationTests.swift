import ReactorBytes
import Testing

@testable import ReactorLoop

@Suite("The connection that a loop expects input from")
struct EventLoopExpectationTests {
    @Test("input of the expected connection is read without a pass over all others")
    func readsFirst() throws {
        let loop = try EventLoop()
        let (one, other) = try loop.pair()
        var received: [UInt8] = []
        one.onBytes = { received += $0.array }
        one.resumeReading()
        loop.expectInput(from: one)
        other.write([ByteSlice([1, 2, 3])])
        loop.turn(.wait)
        #expect(received == [1, 2, 3])
        #expect(loop.expectation.turnCount == 1)
        loop.close()
    }

    @Test(
        "other connections are polled regularly, however much the expected one sends",
        arguments: [Duration.zero, .seconds(10)])
    func isFair(spin: Duration) throws {
        let loop = try EventLoop(
            spin: spin, on: ProcessorCount(look: { 2 }, lookAtMachine: { 2 }))
        let (one, other) = try loop.pair()
        let (third, fourth) = try loop.pair()
        var count = 0
        var isHeard = false
        one.onBytes = { bytes in
            count += bytes.count
            other.write([ByteSlice([1])])
        }
        third.onBytes = { _ in isHeard = true }
        one.resumeReading()
        third.resumeReading()
        loop.expectInput(from: one)
        fourth.write([ByteSlice([1])])
        other.write([ByteSlice([1])])
        try loop.turn { isHeard }
        #expect(count <= EventLoop.expectedReadsMax + 2)
        loop.close()
    }

    @Test("an expected connection that is idle, ends or closes hides no other input")
    func fallsBack() throws {
        let loop = try EventLoop()
        let (one, other) = try loop.pair()
        var isEnded = false
        one.onBytes = { _ in }
        one.onEnd = { isEnded = true }
        one.resumeReading()
        loop.expectInput(from: one)
        loop.turn(.noWait)
        other.finish()
        try loop.turn { isEnded }
        one.close()
        #expect(loop.expectation.connection == nil)
        loop.close()
    }
}
