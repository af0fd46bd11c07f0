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

/// The same checksum of bytes that come in pieces.
///
///     let sum = ChecksumInPieces(behind: seed)
///     for piece in pieces { sum.add(piece) }
///     sum.value
///
/// *Owner*: one thread. *C*: `XXH3_createState`, `XXH3_64bits_reset_withSeed`,
/// `XXH3_64bits_update`, `XXH3_64bits_digest`.
@safe
final class ChecksumInPieces {
    private let state: OpaquePointer

    init(behind seed: UInt64) {
        guard let state = unsafe XXH3_createState() else {
            preconditionFailure("no memory for a checksum")
        }
        unsafe self.state = state
        _ = unsafe XXH3_64bits_reset_withSeed(state, seed)
    }

    deinit { _ = unsafe XXH3_freeState(state) }

    /// Adds bytes.
    func add(_ piece: Span<UInt8>) {
        _ = unsafe piece.withUnsafeBytes {
            unsafe XXH3_64bits_update(state, $0.baseAddress, $0.count)
        }
    }

    /// The checksum of the bytes so far.
    var value: UInt64 { unsafe XXH3_64bits_digest(state) }
}
