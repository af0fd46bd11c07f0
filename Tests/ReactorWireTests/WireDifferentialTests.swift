import ReactorWire
import Testing

/// Compares two readers of the same bytes: `skip` and `WireValue` must accept and refuse the
/// same.
@Suite("Random bytes")
struct WireDifferentialTests {
    /// A reader's error, or its final offset.
    private func end(
        _ read: (inout WireCursor) throws(WireError) -> Void
    ) -> Result<Int, WireError> {
        var cursor = WireCursor()
        do throws(WireError) {
            try read(&cursor)
            return .success(cursor.offset)
        } catch {
            return .failure(error)
        }
    }

    private func skipEnd(_ bytes: [UInt8]) -> Result<Int, WireError> {
        end { (cursor) throws(WireError) in try cursor.skip(in: bytes.span) }
    }

    private func decodeEnd(_ bytes: [UInt8]) -> Result<Int, WireError> {
        end { (cursor) throws(WireError) in _ = try WireValue.decode(bytes.span, &cursor) }
    }

    // [WIRE-3-2]
    @Test("W2, W10: any well-formed encoding decodes to its value, and skips to the same end")
    func wellFormed() throws {
        for start in Seed.starts(2_000) {
            var random = RandomValue(start)
            let value = random.value(depth: 5)
            let bytes = random.bytes(of: value)
            #expect(try WireValue(wireBytes: bytes) == value, "seed \(start)")
            #expect(skipEnd(bytes) == .success(bytes.count), "seed \(start)")
            #expect(
                skipEnd(value.wireBytes()) == .success(value.wireBytes().count), "seed \(start)")
        }
    }

    @Test("W1: a truncated value is refused by both, at the same offset or earlier")
    func truncations() {
        for start in Seed.starts(150) {
            var random = RandomValue(start)
            let bytes = random.bytes(of: random.value(depth: 4))
            for length in 0..<bytes.count {
                let cut = Array(bytes[..<length])
                guard case .failure = skipEnd(cut), case .failure(let error) = decodeEnd(cut) else {
                    Issue.record("seed \(start), \(length) bytes of \(bytes.hex) were accepted")
                    return
                }
                #expect(error.offset <= length, "seed \(start)")
            }
        }
    }

    @Test("W5, W10, W18: damaged bytes are accepted by both or refused by both")
    func damaged() {
        var counts = (accepted: 0, refused: 0)
        for start in Seed.starts(20_000) {
            var random = RandomValue(start)
            var bytes = random.bytes(of: random.value(depth: 3))
            for _ in 0...random.seed.below(3) {
                let place = random.seed.below(bytes.count)
                switch random.seed.below(3) {
                case 0: bytes[place] = UInt8(truncatingIfNeeded: random.seed.next())
                case 1: bytes[place] ^= 1 << UInt8(random.seed.below(8))
                default: bytes.insert(UInt8(truncatingIfNeeded: random.seed.next()), at: place)
                }
            }
            let context = "seed \(start): \(bytes.hex)"
            switch (skipEnd(bytes), decodeEnd(bytes)) {
            case (.success(let skipped), .success(let decoded)):
                #expect(skipped == decoded, "\(context)")
                counts.accepted += 1
            case (.failure, .failure): counts.refused += 1
            case (.success, .failure(let error)):
                Issue.record("\(context): skipped, and refused: \(error)")
            case (.failure(let error), .success):
                Issue.record("\(context): decoded, and not skipped: \(error)")
            }
        }
        // A run that only refuses, or only accepts, compares nothing.
        #expect(Seed.isGiven || counts.accepted > 1_000 && counts.refused > 1_000)
    }

    @Test("random bytes trap in no decoder")
    func garbage() {
        for start in Seed.starts(100_000) {
            var seed = Seed(start)
            // Small numbers are heads of small items, so half of the inputs nest deeper.
            let mask: UInt8 = seed.oneIn(2) ? 0xe3 : 0xff
            let bytes = (0..<seed.below(40)).map { _ in
                UInt8(truncatingIfNeeded: seed.next()) & mask
            }
            _ = skipEnd(bytes)
            _ = decodeEnd(bytes)
            switch start % 10 {
            case 0: _ = try? Int8(wireBytes: bytes)
            case 1: _ = try? Float(wireBytes: bytes)
            case 2: _ = try? String(wireBytes: bytes)
            case 3: _ = try? [[UInt8]](wireBytes: bytes)
            case 4: _ = try? [String: [Int?]](wireBytes: bytes)
            case 5: _ = try? Set<String>(wireBytes: bytes)
            case 6: _ = try? [Duration](wireBytes: bytes)
            case 7: _ = try? WireSchema(wireBytes: bytes)
            case 8: _ = try? [UInt16: Double](wireBytes: bytes)
            default: _ = try? WireValue(json: bytes)
            }
        }
    }

    @Test("W12: an indefinite string of 500,000 one-byte chunks is decoded completely")
    func chunks() throws {
        // A decoder that copied the whole string for each chunk would take too long.
        let count = 500_000
        let bytes: [UInt8] = [0x5f] + (0..<count).flatMap { _ in [0x41, 0x07] as [UInt8] } + [0xff]
        #expect(try [UInt8](wireBytes: bytes).count == count)
        let text: [UInt8] = [0x7f] + (0..<count).flatMap { _ in [0x61, 0x61] as [UInt8] } + [0xff]
        #expect(try String(wireBytes: text).utf8.count == count)
    }
}
