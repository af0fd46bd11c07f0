import Testing

@testable import ReactorJournal

@Suite("Compression")
struct PackingTests {
    private static let alike = [UInt8](repeating: 7, count: 40_000)
    private static let noise = JournalRig.noise(4_000)

    // `#require` cannot show a span.
    private func packed(_ bytes: [UInt8]) throws -> [UInt8] {
        let block = Packing.pack(bytes.span)
        return try #require(block)
    }

    @Test("repetitive bytes are compressed and restored; noise and short texts are not compressed")
    func roundTrip() throws {
        let block = try packed(Self.alike)
        #expect(block.count < 400)
        #expect(Packing.unpack(block, byteCount: 40_000) == Self.alike)
        let short = [UInt8](repeating: 7, count: Packing.byteCountMin - 1)
        for bytes in [Self.noise, short, []] {
            let block = Packing.pack(bytes.span)
            #expect(block == nil)
        }
    }

    @Test("J51: a cut, extended or changed block, and a wrong size, are detected")
    func damaged() throws {
        let mixed = Self.noise.prefix(500) + Self.alike + Self.noise.prefix(700)
        let bytes = Array(mixed)
        let block = try packed(bytes)
        for byteCount in [0, 1, UInt64(bytes.count) - 1, UInt64(bytes.count) + 1, 1 << 40, .max] {
            #expect(Packing.unpack(block, byteCount: byteCount) == nil)
        }
        for end in 0..<block.count {
            #expect(Packing.unpack(Array(block[..<end]), byteCount: UInt64(bytes.count)) == nil)
        }
        for index in block.indices {
            var other = block
            other[index] ^= 0x10
            // A flipped literal is still a valid block; the row's checksum detects it.
            let found = Packing.unpack(other, byteCount: UInt64(bytes.count))
            #expect(found != bytes)
        }
    }
}
