import CXXHash

/// XXH3 with 64 bits, seeded with what the bytes stand behind.
///
/// *Place*: every row, part and header is checked by it. It finds accidents, not attackers.
enum Checksum {
    /// The checksum of `bytes` behind `seed`. *C*: `XXH3_64bits_withSeed`.
    static func of(_ bytes: Span<UInt8>, behind seed: UInt64) -> UInt64 {
        unsafe bytes.withUnsafeBytes {
            unsafe XXH3_64bits_withSeed($0.baseAddress, $0.count, seed)
        }
    }

    /// The checksum of `words`, each as 8 bytes, the lowest first.
    static func of(_ words: [UInt64], behind seed: UInt64) -> UInt64 {
        unsafe words.map(\.littleEndian).withUnsafeBytes {
            unsafe XXH3_64bits_withSeed($0.baseAddress, $0.count, seed)
        }
    }

    /// The same of words that are not on the heap.
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
