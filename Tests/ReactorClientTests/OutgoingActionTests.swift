import ReactorCore
import ReactorWire
import Testing

@testable import ReactorClient

/// The encoding of an action's frame.
struct OutgoingActionTests {
    private let node = NodeID(rawValue: 3)

    private func frame(_ action: OutgoingAction) throws -> Frame {
        var writer = WireWriter()
        try action.encode(as: 9, bodyBytesMax: 1_000, into: &writer)
        #expect(action.byteCount >= writer.count)
        return try #require(try Frame.split(writer.bytes).first)
    }

    @Test("a frame contains every option that is set, and no other")
    func options() throws {
        let plain = try frame(OutgoingAction(encoded: [0xf6], to: node))
        #expect(plain.kind == .dispatch && plain.id == 3 && plain.number == 9)
        #expect(plain.flags == [] && plain.body == [0xf6])
        var action = OutgoingAction(true, to: node, DispatchOptions(deadline: 5))
        action.awaitsEffects = true
        let full = try frame(action)
        #expect(full.flags == [.options, .awaited])
        #expect(full.body == DispatchOptions(deadline: 5).wireBytes() + true.wireBytes())
    }

    @Test("a batch has a pair of node and action for each of its actions")
    func batch() throws {
        let items = [(node, WireEmbedded(true)), (NodeID(rawValue: 4), WireEmbedded(false))]
        let frame = try frame(OutgoingAction(batch: items))
        #expect(frame.kind == .batch && frame.body == [0x82, 0x82, 3, 0xf5, 0x82, 4, 0xf4])
    }

    @Test("an action that is too large appends no bytes")
    func tooLarge() {
        var writer = WireWriter()
        writer.raw([1])
        let action = OutgoingAction(encoded: [1, 2, 3], to: node)
        #expect(throws: ClientError.tooLarge(byteCount: 3, bytesMax: 2)) {
            try action.encode(as: 1, bodyBytesMax: 2, into: &writer)
        }
        #expect(writer.bytes == [1])
    }

    @Test("a delivery ends the preview before it calls the listener and the completion")
    func delivery() {
        let steps = Notes<String>()
        var delivery = Delivery(1, .unknown(.ended))
        delivery.preview = PreviewTicket(assign: { _ in }, settle: { steps.add("preview") })
        delivery.listener = { _ in steps.add("listener") }
        delivery.completion = { _ in steps.add("completion") }
        delivery.deliver()
        #expect(steps.all == ["preview", "listener", "completion"])
    }
}
