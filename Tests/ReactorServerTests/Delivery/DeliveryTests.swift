import ReactorBytes
import ReactorWire
import Testing

@testable import ReactorServer

/// The delivery of outputs, tested without a server.
struct DeliveryTests {
    private let orders = ShellOrders(logInterval: 10, eventsMax: 4)

    private func delivery(_ change: (inout ServerLimits) -> Void = { _ in }) -> Delivery {
        var limits = ServerLimits()
        change(&limits)
        return Delivery(limits, orders)
    }

    private func pong(_ delivery: Delivery, _ connection: Connection) {
        delivery.reply(to: connection) { $0.header(FrameHeader(kind: .pong)) }
    }

    /// Ends a turn; if `isKept`, the journal appends its batch only later.
    private func end(_ delivery: Delivery, isKept: Bool = false) -> [UInt64] {
        let listed = delivery.takeListed()
        listed.visit { _ = delivery.endFrames(of: $0) }
        let output = delivery.makeOutput(1, [], 0..<0)
        var last: [UInt64] = []
        listed.visit { connection in
            if delivery.enqueue(connection, output) { last.append(connection.id.rawValue) }
        }
        delivery.seal(listed, [], batchByteCount: isKept ? 10 : nil)
        delivery.release { _ in }
        return last
    }

    private func taken() -> [ServerOutput] {
        let taken = orders.takeAll()
        return taken
    }

    @Test("a reply leaves once the journal has its turn, in one write at a time")
    func release() {
        let delivery = delivery()
        let connection = OrganBench.connection(1)
        pong(delivery, connection)
        _ = end(delivery, isKept: true)
        #expect(taken().isEmpty && delivery.hasUnreleased && delivery.lastKeptTurn == 1)
        delivery.markAppended(upTo: 1)
        delivery.release { _ in }
        guard case .write(connection.id, _)? = taken().first else {
            Issue.record("nothing was written")
            return
        }
        pong(delivery, connection)
        _ = end(delivery)
        #expect(taken().isEmpty, "the socket is busy")
        delivery.written(connection)
        #expect(taken().count == 1)
    }

    @Test("an outcome follows the run before it, and a continued run is one frame")
    func runs() throws {
        let delivery = delivery()
        let connection = OrganBench.connection(1)
        delivery.add(AppliedRun(ordinal: 1, sequence: 5, count: 2), to: connection)
        delivery.add(AppliedRun(ordinal: 3, sequence: 7, count: 1), to: connection)
        delivery.send(.done, of: 3, to: connection) { _ in }
        delivery.add(AppliedRun(ordinal: 4, sequence: 8, count: 1), to: connection)
        #expect(!delivery.endFrames(of: connection), "it gets no deltas and no mark")
        let frames = OrganBench.frames(delivery.makeOutput(8, [], 0..<0).outcomes)
        #expect(frames.map(\.kind) == [.applied, .done, .applied])
        #expect(frames.map(\.id) == [3, 0, 1] && frames.map(\.number) == [1, 3, 4])
    }

    @Test("the outcomes of a turn stay as they are while a later turn reuses memory")
    func reusedMemory() {
        let delivery = delivery()
        let connection = OrganBench.connection(1)
        var kept: [[UInt8]] = []
        for number in 1...4 as ClosedRange<UInt64> {
            // After every second turn, nothing refers to its outcomes.
            for _ in 0..<2 {
                delivery.send(.done, of: number, to: connection) { _ in }
                let output = delivery.makeOutput(number, [], 0..<0)
                #expect(OrganBench.frames(output.outcomes).map(\.number) == [number])
                kept.append(output.outcomes)
            }
            kept.removeLast()
        }
        #expect(kept.flatMap { OrganBench.frames($0).map(\.number) } == [1, 2, 3, 4])
        delivery.send(.done, of: 5, to: connection) { writer in
            writer.raw([UInt8](repeating: 0, count: 8_192))
        }
        let large = delivery.makeOutput(5, [], 0..<0)
        #expect(large.outcomes.count == 8_192 + FrameHeader.byteCount)
    }

    @Test("a client with too many actions in flight is paused, and read again once they have left")
    func inFlight() {
        let delivery = delivery { $0.inFlightMax = 2 }
        let connection = OrganBench.connection(1)
        delivery.countActions(3, byteCount: 10, of: connection)
        #expect(connection.inlet.value.state == .paused && delivery.window(of: connection) == 0)
        delivery.send(.done, of: 3, to: connection) { _ in }
        #expect(!delivery.resumeReading(connection), "the outcome has not left")
        _ = end(delivery)
        delivery.written(connection)
        #expect(delivery.nextReadable() === connection)
        #expect(delivery.resumeReading(connection) && connection.inlet.value.state == .reading)
        while delivery.nextReadable() != nil {}
        #expect(!delivery.resumeReading(connection), "it is read from already")
    }

    @Test("no client that sends actions is read while the journal is behind")
    func congestion() {
        let delivery = delivery { $0.unreleasedBytesMax = 5 }
        let connection = OrganBench.connection(1)
        _ = end(delivery, isKept: true)
        delivery.countActions(1, byteCount: 1, of: connection)
        #expect(connection.inlet.value.state == .paused && !delivery.endCongestion())
        delivery.markAppended(upTo: 1)
        delivery.release { _ in }
        #expect(delivery.endCongestion() && !delivery.endCongestion())
        #expect(!delivery.holdBack(true) && !delivery.endCongestion())
        #expect(delivery.holdBack(false) && delivery.endCongestion())
    }

    @Test("a leaving connection is closed once it has read its closing frame")
    func farewell() {
        let delivery = delivery()
        let connection = OrganBench.connection(1)
        connection.leave(Closing(.draining, "bye"), at: 1)
        delivery.list(connection)
        delivery.writeFarewell(to: connection)
        #expect(end(delivery) == [1], "it follows its slices for the last time")
        #expect(taken().count == 1)
        delivery.written(connection)
        guard case .close(connection.id)? = taken().first else {
            Issue.record("it is not closed")
            return
        }
        #expect(connection.isClosed)
    }

    @Test("a large answer pauses its reader, and is returned when it was sent or ended")
    func answers() {
        let delivery = delivery()
        let (first, second) = (OrganBench.connection(1), OrganBench.connection(2))
        var table = AnswerTable()
        let answer = table.single([UInt8](repeating: 7, count: 10))
        for connection in [first, second] {
            connection.requests.ask(4)
            table.retain(answer)
            delivery.send(answer, behind: [], of: 4, to: connection)
        }
        #expect(first.inlet.value.state == .paused && delivery.takeEndedAnswers().isEmpty)
        #expect(delivery.cutAnswers(of: second) == [4])
        #expect(second.requests.isEmpty && delivery.takeEndedAnswers().count == 1)
        _ = end(delivery)
        #expect(delivery.takeEndedAnswers().first === answer && first.requests.isEmpty)
        #expect(delivery.takeEndedAnswers().isEmpty)
    }
}
