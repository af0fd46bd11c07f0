import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

/// Questions for the checksum of a follower's copy.
struct ChecksumTests {
    // [WIRE-11-4]
    @Test("C91: the answer is as of the turn's mark, whatever else is in the turn")
    func asOfTheMark() throws {
        let harness = ServerHarness()
        let reader = harness.client()
        let writer = harness.client()
        writer.open("/visits")
        harness.settle()
        reader.subscribe("/visits", .replica)
        harness.settle()
        _ = reader.frames()
        writer.add(1)
        reader.ask(.checksum(path: "/visits"))
        reader.ask(.checksum(path: "/visits"))
        writer.add(2)
        harness.settle()
        let frames = reader.frames()
        let marked = try #require(frames.last { $0.kind == .mark }).number
        let given = try frames.filter { $0.kind == .answer }.map {
            try $0.decode(SliceChecksum.self)
        }
        #expect(given.count == 2 && Set(given.map(\.checksum)).count == 1)
        #expect(given.allSatisfy { $0.revision.sequence == marked && marked == 2 })
        reader.subscribe("/visits", .replica)
        harness.settle()
        let snapshot = try #require(reader.frames(.snapshot).last).body
        #expect(given[0].checksum == WireChecksum(of: snapshot.span).value)
    }

    @Test("C91: a path without a node, or into a state, is refused; a collection is not")
    func refused() throws {
        let harness = ServerHarness()
        let client = harness.client()
        for path in ["/nowhere", "visits", "/visits/count"] { client.ask(.checksum(path: path)) }
        client.ask(.checksum(path: "/visits/count", mode: .value))
        harness.settle()
        let frames = client.frames()
        #expect(frames.filter { $0.kind == .refused }.count == 3)
        #expect(frames.filter { $0.kind == .answer }.count == 1)
    }
}
