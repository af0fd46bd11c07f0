import Foundation
import ReactorWire
import Testing

/// The examples of RFC 8949, from the golden file.
@Suite("The vectors of RFC 8949")
struct WireValueVectorTests {
    struct Vector: Sendable, CustomTestStringConvertible {
        var bytes: [UInt8]
        var verdict: String
        var json: String
        var testDescription: String { "\(bytes.hex) \(verdict) \(json)" }
    }

    static func vectors(_ verdicts: String...) throws -> [Vector] {
        let url = try #require(
            Bundle.module.url(forResource: "rfc8949", withExtension: "txt", subdirectory: "Golden"))
        return try String(contentsOf: url, encoding: .utf8)
            .split(separator: "\n").filter { !$0.hasPrefix("#") }
            .map { line in
                let columns = line.split(separator: " ", maxSplits: 2).map(String.init)
                return Vector(
                    bytes: [UInt8](hex: columns[0]), verdict: columns[1],
                    json: columns.count > 2 ? columns[2] : "")
            }
            .filter { verdicts.contains($0.verdict) }
    }

    // [WIRE-3-1]
    @Test("encoded values have the deterministic form and decode")
    func written() throws {
        for vector in try Self.vectors("=") {
            let value = try WireValue(json: vector.json)
            #expect(value.wireBytes().hex == vector.bytes.hex, "\(vector.json)")
            #expect(try WireValue(wireBytes: vector.bytes) == value, "\(vector.json)")
        }
    }

    @Test("W10, W13: other well-formed forms decode, with tags skipped")
    func read() throws {
        let vectors = try Self.vectors("~")
        #expect(vectors.count == 24)
        for vector in vectors {
            let value = try WireValue(wireBytes: vector.bytes)
            #expect(value == (try WireValue(json: vector.json)), "\(vector.bytes.hex)")
            #expect(value.wireBytes() != vector.bytes, "\(vector.bytes.hex)")
        }
    }

    @Test("W13: bignums, keys that are not text and unknown simple values are refused")
    func refused() throws {
        let vectors = try Self.vectors("?")
        #expect(vectors.count == 5)
        for vector in vectors {
            #expect(throws: WireError.self, "\(vector.bytes.hex)") {
                try WireValue(wireBytes: vector.bytes)
            }
        }
    }

    @Test("W10: malformed bytes are refused by decoding and by skipping")
    func malformed() throws {
        let vectors = try Self.vectors("!")
        #expect(vectors.count > 80)
        for vector in vectors {
            #expect(throws: WireError.self, "\(vector.bytes.hex)") {
                try WireValue(wireBytes: vector.bytes)
            }
            #expect(throws: WireError.self, "\(vector.bytes.hex)") {
                var cursor = WireCursor()
                try cursor.skip(in: vector.bytes.span)
                guard cursor.offset == vector.bytes.count else {
                    throw WireError(.trailingBytes(1), at: cursor.offset)
                }
            }
        }
    }
}
