import ReactorBytes
import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

/// Frames in received bytes, tested without a server.
struct IntakeTests {
    private let ping = TestClient.frame(.ping, number: 3)

    private func receive(_ bytes: [UInt8], _ bench: OrganBench) {
        bench.intake.receive(bench.connection, bytes.span)
    }

    @Test("frames are found in any split of their bytes")
    func splits() throws {
        let bench = try OrganBench()
        for byte in ping + ping { receive([byte], bench) }
        #expect(bench.endTurn().map(\.kind) == [.pong, .pong])
        #expect(bench.connection.inlet.value.heldByteCount == 0)
        #expect(bench.connection.inlet.value.usedByteCount == UInt64(2 * ping.count))
    }

    @Test("a connection with a used-up share rests, and goes on after another turn has ended")
    func share() throws {
        let bench = try OrganBench { $0.framesPerTurnMax = 2 }
        receive(ping + ping + ping, bench)
        #expect(bench.endTurn().count == 2 && bench.takeOrders() == ["pause 1"])
        #expect(bench.intake.hasSpent && !bench.intake.hasRested)
        bench.intake.endTurn()
        #expect(bench.endTurn().isEmpty && bench.intake.hasRested)
        bench.delivery.release { _ in }
        bench.delivery.written(bench.connection)
        bench.intake.endTurn()
        #expect(bench.endTurn().count == 1)
    }

    @Test("frames of a paused client are handled once it has read enough")
    func readOn() throws {
        let bench = try OrganBench()
        bench.delivery.pauseReading(bench.connection)
        receive(ping, bench)
        #expect(bench.endTurn().isEmpty)
        bench.delivery.written(bench.connection)
        bench.intake.readOn()
        #expect(bench.endTurn().map(\.kind) == [.pong])
        #expect(bench.takeOrders() == ["pause 1", "resume 1"])
    }

    @Test("a frame of no known kind ends the connection, and later frames are not handled")
    func fault() throws {
        let bench = try OrganBench()
        receive(TestClient.frame(.welcome) + ping, bench)
        #expect(bench.connection.isLeaving && bench.orders.stats.faults == 1)
        #expect(bench.endTurn().map(\.kind) == [.closing])
    }

    @Test("the connection ends unless its first frame is a hello")
    func hello() throws {
        let bench = try OrganBench()
        let stranger = OrganBench.connection(2)
        bench.intake.receive(stranger, ping.span)
        #expect(stranger.isLeaving)
        let client = OrganBench.connection(3)
        let hello = TestClient.frame(.hello, number: Hello.magic, Hello().wireBytes())
        bench.intake.receive(client, hello.span)
        #expect(client.isOpen)
    }
}
