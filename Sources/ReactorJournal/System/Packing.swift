import CLZ4

/// Compression with LZ4 blocks.
///
/// *Place*: the frames of a turn are similar to each other, and the main cost of a commit is its
/// pages. *C*: `LZ4_compress_default`, `LZ4_decompress_safe`.
enum Packing {
    /// Minimum size for compression; smaller rows share a page with others.
    static let byteCountMin = 128
    /// Maximum size for compression, `LZ4_MAX_INPUT_SIZE`.
    static let byteCountMax = 0x7E00_0000

    /// Compresses `bytes`; returns nil unless that saves at least an eighth.
    static func pack(_ bytes: Span<UInt8>) -> [UInt8]? {
        guard (byteCountMin...byteCountMax).contains(bytes.count) else { return nil }
        let room = bytes.count - bytes.count / 8
        let packed = unsafe [UInt8](unsafeUninitializedCapacity: room) { block, count in
            count = unsafe bytes.withUnsafeBytes { bytes in
                // The function returns 0 if the room does not suffice.
                Int(
                    unsafe LZ4_compress_default(
                        bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
                        UnsafeMutableRawPointer(block.baseAddress)?
                            .assumingMemoryBound(to: CChar.self),
                        Int32(bytes.count), Int32(room)))
            }
        }
        return packed.isEmpty ? nil : packed
    }

    /// Decompresses `block`; returns nil unless the result has `byteCount` bytes.
    static func unpack(_ block: [UInt8], byteCount: UInt64) -> [UInt8]? {
        // A block decompresses to at most 255 times its size; the count may be damaged.
        guard byteCount <= UInt64(block.count) * 255, byteCount <= byteCountMax else { return nil }
        let room = Int(byteCount)
        var found: Int32 = -1
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: room) { bytes, count in
            found = unsafe block.withUnsafeBytes { block in
                unsafe LZ4_decompress_safe(
                    block.baseAddress?.assumingMemoryBound(to: CChar.self),
                    UnsafeMutableRawPointer(bytes.baseAddress)?
                        .assumingMemoryBound(to: CChar.self),
                    Int32(block.count), Int32(room))
            }
            count = max(0, Int(found))
        }
        return found == room ? bytes : nil
    }
}
