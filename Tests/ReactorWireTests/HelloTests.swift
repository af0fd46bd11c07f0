import ReactorWire
import Testing

@Suite("The handshake's messages")
struct HelloTests {
    @Test("the magic number spells the daemon's name in the stream")
    func magic() throws {
        let bytes = try FrameVector.named("hello").bytes
        #expect(String(decoding: bytes[12..<20], as: UTF8.self) == "REACTORD")
    }

    @Test("an empty hello means version 1 without a session")
    func defaults() throws {
        #expect(try Hello(wireBytes: [0xa0]) == Hello())
        #expect(Hello().versionMin == 1)
        #expect(Hello().versionMax == 1)
    }

    @Test("W18: fields of a newer peer are skipped")
    func unknownFields() throws {
        let hello: WireValue = ["program": "x", "compression": ["zstd", 3]]
        #expect(try Hello(wireBytes: hello.wireBytes()) == Hello(program: "x"))
    }

    @Test("W19: bytes after a message are refused")
    func trailing() {
        #expect(throws: WireError.self) { try Hello(wireBytes: [0xa0, 0x00]) }
    }

    @Test("a session is also read from an array of numbers")
    func sessionAsArray() throws {
        let hello: WireValue = ["session": [1, 2, 3]]
        #expect(try Hello(wireBytes: hello.wireBytes()).session == [1, 2, 3])
    }

    @Test("a welcome without its session is refused with the field's name")
    func missing() throws {
        let body = try FrameVector.named("welcome").body
        guard case .map(let fields) = try WireValue(wireBytes: body) else {
            throw VectorProblem(text: "welcome is no map")
        }
        for pair in fields {
            let rest = fields.filter { $0.key != pair.key }
            let cut = WireValue.map(try WireMap(Array(rest)))
            do throws(WireError) {
                _ = try Welcome(wireBytes: cut.wireBytes())
                Issue.record("a welcome without \(pair.key) was read")
            } catch {
                #expect(error.condition == .missingField(pair.key.text))
            }
        }
    }
}
