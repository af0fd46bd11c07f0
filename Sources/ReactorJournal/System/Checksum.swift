import CXXHash

/// XXH3 with 64 bits, seeded with the checksum of the preceding bytes.
///
/// *Place*: protects every row, part and header against accidents, not against attackers.
enum Checksum {
    /// Returns the checksum of `bytes` with `seed`. *C*: `XXH3_64bits_withSeed`.
    static func of(_ bytes: Span<UInt8>, behind seed: UInt64) -> UInt64 {
        unsafe bytes.withUnsafeBytes {
            unsafe XXH3_64bits_withSeed($0.baseAddress, $0.count, seed)
        }
    }

    /// Returns the checksum of `words`, each as 8 bytes, lowest first.
    static func of(_ words: [UInt64], behind seed: UInt64) -> UInt64 {
        unsafe words.map(\.littleEndian).withUnsafeBytes {
            unsafe XXH3_64bits_withSeed($0.baseAddress, $0.count, seed)
        }
    }

    /// The same for words that are not on the heap.
    static func of<let count: Int>(
        _ words: InlineArray<count, UInt64>, behind seed: UInt64
    ) -> UInt64 {
        var words = words
        for index in words.indices { words[index] = words[index].littleEndian }
        return unsafe words.span.withUnsafeBytes {
            unsafe XXH3_64bits_withSeed($0.baseAddress, $0.count, seed)
        }
    }
}
