import CLZ4

/// Bytes that take less room than what they stand for: LZ4 blocks.
///
/// *Place*: what a turn decided is frames that are all alike, and what a commit costs above all is
/// its pages. *C*: `LZ4_compress_default`, `LZ4_decompress_safe`.
enum Packing {
    /// Below how many bytes nothing is packed: they share their page with others.
    static let byteCountMin = 128
    /// Above how many bytes nothing is packed: no block may stand for more. `LZ4_MAX_INPUT_SIZE`.
    static let byteCountMax = 0x7E00_0000

    /// `bytes` as a block, or nil where that is not worth it: an eighth has to be saved.
    static func pack(_ bytes: Span<UInt8>) -> [UInt8]? {
        guard (byteCountMin...byteCountMax).contains(bytes.count) else { return nil }
        let room = bytes.count - bytes.count / 8
        let packed = unsafe [UInt8](unsafeUninitializedCapacity: room) { block, count in
            count = unsafe bytes.withUnsafeBytes { bytes in
                // because it answers 0 where there is not room enough
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

    /// What `block` stands for, if that is `byteCount` bytes; nil if it is damaged.
    static func unpack(_ block: [UInt8], byteCount: UInt64) -> [UInt8]? {
        // because a block stands for at most 255 times its own bytes, and a count may be damaged
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
