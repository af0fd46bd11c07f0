import ReactorWire
import Testing

@testable import ReactorDaemon

/// Drives ``PeerMessage`` and ``PeerInput``.
@Suite("Messages between the daemons of a cluster")
struct PeerMessageTests {
    private static let messages: [PeerMessage] = [
        .hello(cluster: "house", node: 255, incarnation: .max), .welcome(term: 7),
        .refused("node a does not lead"), .beat, .request([]), .request([0, 255, 7]),
        .reply([UInt8](repeating: 9, count: 300)),
    ]

    private func received(_ pieces: [ArraySlice<UInt8>]) throws -> [PeerMessage] {
        var input = PeerInput()
        var found: [PeerMessage] = []
        for piece in pieces {
            input.append(Array(piece).span)
            while let message = try input.next() { found.append(message) }
        }
        return found
    }

    @Test("the length is four bytes, the lowest first, and the message is CBOR")
    func bytes() {
        #expect(PeerMessage.beat.frame == [7, 0, 0, 0, 0xa1, 0x64] + Array("beat".utf8) + [0xa0])
        let frame = PeerMessage.request([UInt8](repeating: 1, count: 70_000)).frame
        let byteCount = frame.count - 4
        #expect(Array(frame[..<4]) == [UInt8(byteCount & 255), UInt8(byteCount >> 8 & 255), 1, 0])
    }

    @Test("messages arrive whole and in order, wherever their bytes are split")
    func splits() throws {
        let bytes = Self.messages.flatMap(\.frame)
        for split in 0...bytes.count {
            #expect(try received([bytes[..<split], bytes[split...]]) == Self.messages)
        }
        #expect(try received(bytes.indices.map { bytes[$0...$0] }) == Self.messages)
    }

    @Test("a content of the maximum size arrives, and its message has at most the maximum")
    func largest() throws {
        let content = [UInt8](repeating: 3, count: PeerMessage.contentBytesMax)
        let frame = PeerMessage.request(content).frame
        #expect(frame.count - 4 <= PeerMessage.messageBytesMax)
        #expect(try received([frame[...]]) == [.request(content)])
        #expect(
            PeerMessage.reply(content).frame.count - 4 <= PeerMessage.messageBytesMax)
    }

    @Test("a message that is too long is refused at its length, after the messages before it")
    func tooLong() throws {
        let byteCount = PeerMessage.messageBytesMax + 1
        var input = PeerInput()
        input.append(PeerMessage.beat.frame.span)
        input.append([1, 0, 0x40].span)
        #expect(try input.next() == .beat)
        #expect(try input.next() == nil)
        input.append([4].span)
        #expect(throws: PeerFault.tooLong(byteCount: byteCount)) { try input.next() }
        let text = PeerFault.tooLong(byteCount: byteCount).description
        #expect(text == "a message of 71303169 bytes exceeds messageBytesMax 71303168")
    }

    @Test(
        "bytes that are no message are refused",
        arguments: [
            [0xff], [], [0xa1, 0x64, 0x62, 0x65, 0x61, 0x75, 0xa0],
            [0xa1, 0x64, 0x62, 0x65, 0x61, 0x74, 0xa0, 0],
            [0xa1, 0x67] + Array("request".utf8) + [0x5a, 0xff, 0xff, 0xff, 0xff],
        ] as [[UInt8]])
    func garbage(message: [UInt8]) {
        var input = PeerInput()
        input.append(([UInt8(message.count), 0, 0, 0] + message).span)
        let fault = #expect(throws: PeerFault.self) { try input.next() }
        #expect("\(String(describing: fault))".contains("cannot be read"))
    }
}
