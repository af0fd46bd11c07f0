import ReactorBytes
import ReactorWire

/// One record of a client's journal.
///
/// *Shape*: the length of the payload (4 bytes), the kind (1 byte), a ``WireChecksum`` of kind and
/// payload (8 bytes), all little-endian; then the payload. A file is ``magic`` followed by records;
/// the end may be torn.
struct PendingRecord {
    var kind: Kind
    /// The range of its payload.
    var payload: Range<Int>

    /// The content of a record's payload.
    enum Kind: UInt8 {
        /// ``KeptSession``: the session of the ordinals that follow; written once, first.
        case session = 1
        /// ``KeptNode``: the path of a node's number in the frames that follow.
        case node = 2
        /// Complete frames of actions, without gaps.
        case actions = 3
        /// An ordinal in 8 bytes: every outcome up to it has arrived.
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

    /// Reads the record at `offset`; `nil` if there is no complete record there.
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

    /// Limit of the bytes that are checksummed in search of a record.
    private static let searchBytesMax = 64 << 20

    /// True if a complete record starts anywhere after `offset`.
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

/// The session of a journal's ordinals.
@WireCodable
struct KeptSession: Equatable {
    /// Its secret; absent before the first welcome.
    var secret: [UInt8]?
    /// The daemon's epoch in its last message about the session.
    var epoch: UInt64
    /// The daemon's sequence in its first message about the session.
    var since: UInt64?
    /// Highest ordinal in use when this record was written.
    var last: UInt64
}

/// The path of a node's number in a journal's frames.
@WireCodable
struct KeptNode: Equatable {
    var id: UInt32
    var path: String
}
