import ReactorBytes
import ReactorWire

/// One record of a client's journal.
///
/// *Shape*: the length of the payload in 4 bytes, the kind in 1, a ``WireChecksum`` of kind and
/// payload in 8, all the lowest byte first; then the payload. A file is ``magic`` and records behind
/// it; the end may be torn.
struct PendingRecord {
    var kind: Kind
    /// Where its payload stands.
    var payload: Range<Int>

    /// What a record says.
    enum Kind: UInt8 {
        /// ``KeptSession``: whose ordinals follow; written once, in front.
        case session = 1
        /// ``KeptNode``: which path the frames behind it mean by a number.
        case node = 2
        /// Frames of actions, whole, back to back.
        case actions = 3
        /// An ordinal, 8 bytes: every outcome up to it has arrived.
        case concluded = 4
    }

    /// The first bytes of a file.
    static let magic = Array("REACTPND".utf8)
    private static let headByteCount = 13

    /// Appends a record.
    static func append(_ kind: Kind, _ payload: Span<UInt8>, to writer: inout WireWriter) {
        writer.word(UInt64(payload.count), byteCount: 4)
        writer.byte(kind.rawValue)
        writer.word(checksum(kind.rawValue, payload), byteCount: 8)
        writer.raw(payload)
    }

    /// Reads the record at `offset`; `nil` where none is whole there.
    init?(_ bytes: Span<UInt8>, at offset: Int) {
        let start = offset + Self.headByteCount
        guard start <= bytes.count else { return nil }
        let end = start + Int(bytes.word(at: offset, byteCount: 4))
        let rawKind = bytes[offset + 4]
        guard end <= bytes.count, let kind = Kind(rawValue: rawKind),
            bytes.word(at: offset + 5, byteCount: 8)
                == Self.checksum(rawKind, bytes.extracting(start..<end))
        else { return nil }
        self.kind = kind
        payload = start..<end
    }

    /// Most bytes that are summed up in search of a record.
    private static let searchBytesMax = 64 << 20

    /// True where a whole record starts anywhere behind `offset`.
    static func isAny(_ bytes: Span<UInt8>, behind offset: Int) -> Bool {
        var bytesLeft = searchBytesMax
        var offset = offset + 1
        while offset + headByteCount <= bytes.count, bytesLeft > 0 {
            defer { offset += 1 }
            let byteCount = Int(bytes.word(at: offset, byteCount: 4))
            guard byteCount <= bytes.count - offset - headByteCount,
                Kind(rawValue: bytes[offset + 4]) != nil
            else { continue }
            bytesLeft -= byteCount
            if PendingRecord(bytes, at: offset) != nil { return true }
        }
        return false
    }

    private static func checksum(_ kind: UInt8, _ payload: Span<UInt8>) -> UInt64 {
        var checksum = WireChecksum()
        checksum.add(kind)
        checksum.add(payload)
        return checksum.value
    }
}

/// The session that a journal's ordinals are of.
@WireCodable
struct KeptSession: Equatable {
    /// Its secret; absent before the first welcome.
    var secret: [UInt8]?
    /// The daemon's epoch when it last spoke of the session.
    var epoch: UInt64
    /// The sequence that the daemon told when it first spoke of the session.
    var since: UInt64?
    /// Highest ordinal in use when this was written.
    var last: UInt64
}

/// What a journal's frames mean by the number of a node.
@WireCodable
struct KeptNode: Equatable {
    var id: UInt32
    var path: String
}
