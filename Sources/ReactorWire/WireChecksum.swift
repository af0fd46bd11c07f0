/// 64-bit FNV-1a: a checksum that any language computes in three lines.
///
///     var checksum = WireChecksum()
///     checksum.add(state.wireBytes().span)
///
/// *Place*: ``Question/checksum(path:mode:)`` compares a mirror's copy with the daemon's state, and a
/// client's journal uses it to detect a torn record. It detects accidents, not forgeries. *Cost*:
/// about a nanosecond a byte.
package struct WireChecksum: Hashable, Sendable {
    /// The checksum of the bytes added so far.
    package private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    /// The checksum of no bytes.
    package init() {}

    /// The checksum of these bytes.
    package init(of bytes: Span<UInt8>) { add(bytes) }

    /// Adds bytes.
    package mutating func add(_ bytes: Span<UInt8>) {
        var value = value
        for index in bytes.indices { value = (value ^ UInt64(bytes[index])) &* 0x100_0000_01b3 }
        self.value = value
    }

    /// Adds one byte.
    package mutating func add(_ byte: UInt8) {
        value = (value ^ UInt64(byte)) &* 0x100_0000_01b3
    }
}
