import Testing

@testable import ReactorDaemon

/// Drives ``RequestQueue`` and ``TextFile``.
@Suite("OperatorService")
struct OperatorServiceTests {
    @Test("only the daemon's user and root may see other clients and end their connections")
    func access() {
        let may = [1_000, 0, 1_001, 65_534].map {
            OperatorService.mayAdminister($0, owner: 1_000)
        }
        #expect(may == [true, true, false, false])
        #expect(!OperatorService.mayAdminister(1_000, owner: 0))
    }

    @Test("requests that come while a text is written get the next text")
    func queue() {
        var queue = RequestQueue<(String) -> Void>()
        var got: [String] = []
        let isIdle = queue.begin()
        queue.add { got.append("a \($0)") }
        queue.add { got.append("b \($0)") }
        let begun = queue.begin()
        queue.add { got.append("c \($0)") }
        let isBegunTwice = queue.begin()
        #expect(!isIdle && begun && !isBegunTwice)
        for then in queue.end() { then("1") }
        #expect(got == ["a 1", "b 1"])
        let again = queue.begin()
        for then in queue.end() { then("2") }
        #expect(again && got == ["a 1", "b 1", "c 2"])
    }

    @Test("a file is written at once, then at each interval, never twice at a time")
    func file() {
        var file = TextFile()
        let second: UInt64 = 1_000_000_000
        var written: [UInt64] = []
        for tick: UInt64 in 1...10 where file.begin(at: tick * second, every: .seconds(3)) {
            written.append(tick)
            file.end()
        }
        #expect(written == [1, 4, 7, 10])
        let begun = file.begin(at: 20 * second, every: .seconds(3))
        let isBegunTwice = file.begin(at: 30 * second, every: .seconds(3))
        #expect(begun && !isBegunTwice)
    }

    @Test("a failure is reported once, until a write succeeds or fails differently")
    func failures() {
        var file = TextFile()
        var reported: [String] = []
        for (tick, failure) in ["full", "full", "gone", "", "gone"].enumerated() {
            _ = file.begin(at: UInt64(tick) * 1_000_000_000, every: .seconds(1))
            if failure.isEmpty {
                file.end()
            } else if file.end(failure: failure) {
                reported.append(failure)
            }
        }
        #expect(reported == ["full", "gone", "gone"])
    }
}
