/// FNV-1a with 64 bits: a checksum that any language computes in three lines.
///
///     var checksum = WireChecksum()
///     checksum.add(state.wireBytes().span)
///
/// *Place*: ``Ask/checksum(path:mode:)`` compares what a mirror holds with what the daemon holds, and
/// a client's journal tells a torn record from a whole one. It finds accidents, not forgeries.
/// *Cost*: about a nanosecond a byte.
public struct WireChecksum: Hashable, Sendable {
    /// The checksum of what was added so far.
    public private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    /// The checksum of nothing.
    public init() {}

    /// The checksum of these bytes.
    public init(of bytes: Span<UInt8>) { add(bytes) }

    /// Adds bytes behind those that were added before.
    public mutating func add(_ bytes: Span<UInt8>) {
        var value = value
        for index in bytes.indices { value = (value ^ UInt64(bytes[index])) &* 0x100_0000_01b3 }
        self.value = value
    }

    /// Adds one byte.
    public mutating func add(_ byte: UInt8) {
        value = (value ^ UInt64(byte)) &* 0x100_0000_01b3
    }
}
