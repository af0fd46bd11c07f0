import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

/// Limits on the bytes that wait for the journal.
struct CongestionTests {
    private static func text(_ byteCount: Int) -> String {
        String(repeating: "x", count: byteCount)
    }

    private func start(
        _ change: (inout ServerLimits) -> Void
    ) throws -> (harness: ServerHarness, client: TestClient) {
        let harness = try ServerHarness.keeping { limits in
            limits.refusedBytesMax = 1 << 20
            change(&limits)
        }
        let client = harness.client()
        client.open("/visits")
        harness.turn()
        harness.appendsAtOnce = false
        return (harness, client)
    }

    @Test("J62: a client is not read while too many bytes of its actions wait for the journal")
    func ofOne() throws {
        let (harness, client) = try start { $0.inFlightBytesMax = 100_000 }
        for _ in 0..<20 { client.dispatch(Tally.Action.refuse(text: Self.text(30_000))) }
        harness.turn()
        #expect(client.socket.isPaused)
        // Bytes that were read are handled: one frame beyond the limit.
        #expect(harness.server.memory.inFlightBytesOfOne < 140_000)
        #expect(try OutcomeLog(client.frames()).outcomes.isEmpty)
        harness.appendsAtOnce = true
        harness.append()
        harness.settle()
        #expect(!client.socket.isPaused && harness.server.memory.inFlightBytesOfOne == 0)
        #expect(try OutcomeLog(client.frames()).outcomes.count == 20)
    }

    @Test("J62: a client whose actions are all answered later is read again")
    func deferred() throws {
        let (harness, client) = try start { $0.inFlightBytesMax = 100 }
        harness.appendsAtOnce = true
        for _ in 0..<20 { client.dispatch(Tally.Action.wait) }
        harness.settle()
        client.dispatch(Tally.Action.grant(value: 7))
        harness.settle()
        #expect(!client.socket.isPaused)
        #expect(try OutcomeLog(client.frames()).outcomes.count == 21)
    }

    @Test("clients that a shell holds back are read again once the shell releases them")
    func heldBack() throws {
        let (harness, client) = try start { _ in }
        harness.appendsAtOnce = true
        harness.append()
        harness.server.holdBack(.all)
        client.add(1)
        harness.turn()
        #expect(client.socket.isPaused)
        // The server runs the received actions.
        #expect(try harness.tally("/visits").count == 1)
        harness.settle()
        #expect(client.socket.isPaused)
        harness.server.holdBack(.none)
        harness.carryOut()
        #expect(!client.socket.isPaused)
    }

    @Test("J62: no client is read while too many bytes of all wait, and then every client is")
    func ofAll() throws {
        let (harness, client) = try start { $0.unreleasedBytesMax = 100_000 }
        let other = harness.client()
        other.open("/other")
        harness.append()
        for _ in 0..<4 {
            client.dispatch(Tally.Action.refuse(text: Self.text(30_000)))
            harness.turn()
        }
        #expect(harness.server.memory.unreleasedBytes > 100_000)
        let before = try harness.tally("/other").count
        for _ in 0..<3 {
            other.add(1)
            harness.turn()
        }
        #expect(other.socket.isPaused)
        #expect(try harness.tally("/other").count == before + 1)
        harness.appendsAtOnce = true
        harness.append()
        harness.settle()
        #expect(!other.socket.isPaused && !client.socket.isPaused)
        #expect(harness.server.memory.unreleasedBytes == 0)
        #expect(try harness.tally("/other").count == before + 3)
    }
}
