import ReactorCore
import ReactorWire
import Testing

@testable import ReactorClient

/// Reading nodes and ordinals from the frames of actions.
struct ActionFramesTests {
    private static func bytes(_ actions: [OutgoingAction]) throws -> [UInt8] {
        var writer = WireWriter()
        for (index, action) in actions.enumerated() {
            try action.encode(as: UInt64(index + 1), bodyBytesMax: 1_000, into: &writer)
            writer.header(FrameHeader(kind: .ping, number: 99))
        }
        return writer.bytes
    }

    @Test("the reader finds actions among other frames, complete and in order")
    func forEach() throws {
        let actions = [1, 2].map { OutgoingAction(encoded: [$0], to: NodeID(rawValue: 7)) }
        let bytes = try Self.bytes(actions)
        var found: [UInt64: [UInt8]] = [:]
        ActionFrames.forEach(in: bytes.span, 0..<bytes.count) { ordinal, range in
            found[ordinal] = Array(bytes[range])
        }
        #expect(found.keys.sorted() == [1, 2])
        #expect(found[2]?.last == 2 && found[2]?.count == FrameHeader.byteCount + 1)
    }

    @Test("an action names one node, and a batch names those of its items, after its conditions")
    func nodes() throws {
        let conditions = DispatchOptions(deadline: 5)
        let items = [7, 9].map { (NodeID(rawValue: $0), WireEmbedded(true)) }
        func nodes(of action: OutgoingAction) throws -> [UInt32] {
            let bytes = try Self.bytes([action])
            return ActionFrames.nodes(of: bytes.span)
        }
        let one = OutgoingAction(true, to: NodeID(rawValue: 4), conditions)
        #expect(try nodes(of: one) == [4])
        #expect(try nodes(of: OutgoingAction(batch: items, conditions)) == [7, 9])
        #expect(try nodes(of: OutgoingAction(batch: [])) == [])
    }
}
