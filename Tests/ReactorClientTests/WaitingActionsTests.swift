import ReactorWire
import Testing

@testable import ReactorClient

/// Waiting frames, tested alone.
struct WaitingActionsTests {
    private static func append(_ number: UInt64, to waiting: inout WaitingActions) throws {
        try waiting.append { writer throws(ClientError) in
            let start = writer.beginFrame(.dispatch, id: 1, number: number)
            writer.raw([UInt8](repeating: UInt8(truncatingIfNeeded: number), count: Int(number)))
            writer.endFrame(at: start)
        }
    }

    private static func moved(_ count: Int, from waiting: inout WaitingActions) throws -> [Frame] {
        var writer = WireWriter()
        waiting.move(count, to: &writer)
        return try Frame.split(writer.bytes)
    }

    @Test("frames are moved in order and complete, in portions of any size")
    func order() throws {
        for step in 1...5 {
            var waiting = WaitingActions()
            for number in 1...10 as ClosedRange<UInt64> { try Self.append(number, to: &waiting) }
            var numbers: [UInt64] = []
            while waiting.count > 0 {
                let frames = try Self.moved(min(step, waiting.count), from: &waiting)
                #expect(frames.allSatisfy { $0.body.count == Int($0.number) })
                numbers += frames.map(\.number)
            }
            #expect(numbers == Array(1...10) && waiting.byteCount == 0)
        }
    }

    @Test("frames get the ordinals after a session's last, and keep their bodies")
    func renumber() throws {
        var waiting = WaitingActions()
        for number in 1...3 as ClosedRange<UInt64> { try Self.append(number, to: &waiting) }
        _ = try Self.moved(1, from: &waiting)
        waiting.renumber(by: 100)
        let frames = try Self.moved(2, from: &waiting)
        #expect(frames.map(\.number) == [102, 103] && frames.map(\.body.count) == [2, 3])
    }

    @Test("a refused frame is not counted")
    func refused() throws {
        var waiting = WaitingActions()
        #expect(throws: ClientError.ended) {
            try waiting.append { _ throws(ClientError) in throw .ended }
        }
        #expect(waiting.count == 0 && waiting.byteCount == 0)
    }
}
