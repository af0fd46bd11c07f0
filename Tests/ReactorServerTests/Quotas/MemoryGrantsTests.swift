import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

@Suite("The memory for large answers and states of the past")
struct MemoryGrantsTests {
    /// The refusal of a claim; nil if it is granted.
    private func refusal(_ claim: () throws(Refusal) -> Void) -> Refusal? {
        do throws(Refusal) {
            try claim()
            return nil
        } catch {
            return error
        }
    }

    @Test("what does not fit below the ceiling is refused as BUSY with all figures")
    func figures() {
        let room = MemoryGrants()
        #expect(room.grantMax == .max)
        room.measured(.none, used: 700, max: 1_000)
        #expect(room.grantMax == 300)
        room.grant(200)
        #expect(room.grantMax == 100)
        let refused = room.refusal(of: 101, for: "the answer")
        #expect(refused.code == .busy)
        #expect(
            refused.message.hasPrefix(
                "memoryMax 1000 bytes: the daemon has 900, and the answer may take 101 more"))
        let past = refusal { () throws(Refusal) in
            try room.claimPast(101, of: 1, keeping: 0, max: 0)
        }
        #expect(past?.message.contains("has 900, and a state of the past may take 101") ?? false)
        #expect(room.claims.isEmpty)
    }

    @Test("granted bytes count until the second measurement after the grant")
    func granted() {
        let room = MemoryGrants()
        room.measured(.none, used: 100, max: 1_000)
        room.grant(800)
        room.measured(.none, used: 100, max: 1_000)
        #expect(room.grantMax == 100)
        room.measured(.none, used: 100, max: 1_000)
        #expect(room.grantMax == 900)
    }

    @Test("states of the past one after the other, as for an export, do not add up")
    func successive() {
        let room = MemoryGrants()
        room.measured(.none, used: 100, max: 1_000)
        room.grant(50)
        func claim() -> Refusal? {
            refusal { () throws(Refusal) in
                try room.claimPast(400, of: 1, keeping: 0, max: 0)
            }
        }
        for _ in 1...10 {
            #expect(claim() == nil && room.grantMax == 450)
            room.endPast(of: 1)
            #expect(room.grantMax == 850)
        }
        #expect(claim() == nil && claim() == nil && claim()?.code == .busy)
        room.measured(.none, used: 100, max: 1_000)
        #expect(room.grantMax == 50)
        room.endPast(of: 1)
        #expect(room.grantMax == 450)
        room.measured(.none, used: 500, max: 1_000)
        room.endPast(of: 1)
        #expect(room.grantMax == 500)
    }

    @Test(
        "X117: near the ceiling only a 256th of it is granted, even if more seems to be free",
        arguments: [MemoryPressure.high, .full])
    func near(_ pressure: MemoryPressure) {
        let room = MemoryGrants()
        room.measured(pressure, used: 500, max: 2_560)
        #expect(room.grantMax == 10)
        room.measured(.none, used: 2_559, max: 2_560)
        #expect(room.grantMax == 10)
        room.measured(.none, used: 500, max: 2_560)
        #expect(room.grantMax == 2_060)
    }

    @Test("a second state of the past of a user must fit its limit, and the first may be larger")
    func users() {
        let room = MemoryGrants()
        func claim(_ byteCount: Int, of uid: UInt32, keeping kept: Int) -> Refusal? {
            refusal { () throws(Refusal) in
                try room.claimPast(byteCount, of: uid, keeping: kept, max: 100)
            }
        }
        #expect(claim(400, of: 1, keeping: 10) == nil)
        let refused = claim(20, of: 1, keeping: 410)
        #expect(refused?.code == .busy)
        #expect(
            refused?.message.hasPrefix(
                "memoryPerUIDMax 100 bytes: the clients of uid 1 keep 410, and a state of the past "
                    + "may take 20 more") ?? false)
        #expect(claim(20, of: 2, keeping: 0) == nil)
        room.endPast(of: 1)
        #expect(claim(20, of: 1, keeping: 10) == nil)
    }

    @Test("X117: near the ceiling a large answer is refused as BUSY, and parts of it are answered")
    func answers() throws {
        let text = WireValue.text(String(repeating: "x", count: 100_000))
        let harness = ServerHarness.ledger(30, value: { _ in text })
        var limits = harness.server.limits
        limits.memoryMax = 64 << 20
        harness.server.setLimits(limits)
        let client = harness.client()
        client.open("/ledger")
        harness.settle()
        /// The refusal of a request after another change of the value; nil if it is answered.
        func ask(_ path: String) throws -> Refusal? {
            client.dispatch(Ledger.Action.title("title \(client.ordinal)"))
            client.ask(.get(path: path))
            harness.settle()
            let frames = client.frames()
            let refusal = frames.first { $0.kind == .refused }
            #expect(refusal != nil || frames.contains { $0.kind == .answer })
            return try refusal?.decode(Refusal.self)
        }
        // Until its size is known, the value counts as small, and is encoded on the loop.
        for _ in 0..<2 { #expect(try ask("/ledger") == nil) }
        harness.server.relieve(.high, used: 60 << 20, at: harness.now)
        let refusal = try #require(try ask("/ledger"))
        #expect(refusal.code == .busy)
        #expect(
            refusal.message.hasPrefix(
                "memoryMax 67108864 bytes: the daemon has 62914560, and the answer may take 3"),
            "\(refusal.message)")
        #expect(try ask("/ledger/entries/key7") == nil)
        harness.server.relieve(.none, used: 1 << 20, at: harness.now)
        #expect(try ask("/ledger") == nil)
    }
}
