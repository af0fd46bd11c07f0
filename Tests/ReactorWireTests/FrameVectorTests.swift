import ReactorWire
import Testing

/// The golden file pins the bytes of every kind of frame; an independent encoder wrote it.
@Suite("The golden frames")
struct FrameVectorTests {
    @Test(
        "a header decodes to its meaning, and encodes to the same bytes", arguments: FrameVector.all
    )
    func header(vector: FrameVector) throws {
        let expected = try vector.expectedHeader()
        let header = try FrameHeader.decode(
            vector.bytes.span, at: 0, frameBytesMax: WireLimits.frameBytesMax)
        #expect(header == expected)
        let kind = try #require(FrameKind(rawValue: expected.kind))
        var writer = WireWriter()
        let start = writer.beginFrame(
            kind, flags: expected.flags, id: expected.id, number: expected.number)
        writer.raw(vector.body)
        writer.endFrame(at: start)
        #expect(writer.bytes.hex == vector.bytes.hex)
    }

    @Test("a body contains the given values in deterministic form", arguments: FrameVector.all)
    func values(vector: FrameVector) throws {
        if try vector.expectedHeader().flags.contains(.more) {
            #expect(vector.values.isEmpty)
            return
        }
        let body = try vector.joinedBody()
        var cursor = WireCursor()
        var writer = WireWriter()
        for json in vector.values {
            let value = try WireValue(json: json)
            #expect(try WireValue.decode(body.span, &cursor) == value)
            value.encode(into: &writer)
        }
        #expect(cursor.offset == body.count)
        #expect(writer.bytes.hex == body.hex)
    }

    @Test("the messages of the code have the golden bytes", arguments: FrameBody.all)
    func messages(body: FrameBody) throws {
        let golden = try FrameVector.named(body.vector).joinedBody()
        #expect(body.encoded().hex == golden.hex)
        try body.checkDecoding(of: golden)
    }

    @Test("every kind and every flag has a vector, and every body a message")
    func isComplete() throws {
        let headers = try FrameVector.all.map { try $0.expectedHeader() }
        #expect(Set(headers.map(\.kind)) == Set(FrameKind.allCases.map(\.rawValue)))
        let flags = headers.reduce(into: FrameFlags()) { $0.formUnion($1.flags) }
        #expect(FrameFlags.byName.values.allSatisfy(flags.contains))
        #expect(flags.rawValue == 0x7f)
        let names = FrameVector.all.map(\.name)
        #expect(Set(names).count == names.count)
        let isTyped = Set(FrameBody.all.map(\.vector))
        #expect(names.filter { !isTyped.contains($0) } == FrameBody.untyped)
    }

    @Test("W5: a prefix of a frame is not accepted as a frame", arguments: FrameVector.all)
    func prefixes(vector: FrameVector) throws {
        let bytes = vector.bytes
        for count in 0..<bytes.count {
            let header = try FrameHeader.decode(
                bytes.span.extracting(0..<count), at: 0, frameBytesMax: WireLimits.frameBytesMax)
            if count < FrameHeader.byteCount {
                #expect(header == nil)
            } else {
                #expect(FrameHeader.byteCount + Int(try #require(header).length) > count)
            }
        }
    }

    @Test("W1: a proper prefix of a message is not accepted as a message", arguments: FrameBody.all)
    func bodyPrefixes(body: FrameBody) throws {
        let golden = try FrameVector.named(body.vector).joinedBody()
        for count in 0..<golden.count {
            #expect(throws: (any Error).self, "the first \(count) bytes") {
                try body.checkDecoding(of: Array(golden[..<count]))
            }
        }
    }
}
