import ReactorLoop
import ReactorServer
import ReactorWire

/// What a daemon gives the process that takes over from it.
///
/// *Place*: the former process writes it into a ``ReactorLoop/MemoryFile``, whose descriptor the new
/// one inherits together with the descriptors that it names.
///
/// *Shape*: in bytes, big-endian: 4 of magic, 4 of the version, 8 of a checksum of the rest, which is
/// CBOR.
@WireCodable
struct HandoverDocument: Equatable, Sendable {
    /// The former process.
    var pid: Int32
    /// The number of the journal's last row.
    var row: UInt64
    /// The descriptor of the data directory's lock.
    var dataLock: Int32
    var sockets: [HandedSocket]
    /// The sockets of the connections in ``server``.
    var links: [HandedLink]
    var server: ServerHandover
    /// The slow log.
    var slow: [SlowEntry] = []

    /// The form of the document; another one is refused.
    static let version: UInt32 = 1
    private static let magic: UInt32 = 0x5244_484f
    private static let headByteCount = 16

    /// The document in the form of the file.
    var fileBytes: [UInt8] {
        let body = wireBytes()
        return Self.bytes(UInt64(Self.magic) << 32 | UInt64(Self.version))
            + Self.bytes(WireChecksum(of: body.span).value) + body
    }

    /// Every descriptor that the document names.
    var descriptors: [Int32] {
        [dataLock] + sockets.flatMap { [$0.listener] + ($0.lock.map { [$0] } ?? []) }
            + links.map(\.descriptor)
    }

    private static func bytes(_ number: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}

extension HandoverDocument {
    /// Reads the form of the file.
    ///
    /// *Throws*: ``DaemonError/handover(_:)`` if another version wrote it, or bytes have changed.
    init(fileBytes bytes: [UInt8]) throws(DaemonError) {
        guard bytes.count >= Self.headByteCount else {
            throw .handover("the document has \(bytes.count) bytes, expected more")
        }
        let (head, sum) = (Self.number(bytes[..<8]), Self.number(bytes[8..<Self.headByteCount]))
        guard head >> 32 == UInt64(Self.magic) else {
            throw .handover("the inherited file is not a document of a handover")
        }
        guard head & 0xffff_ffff == UInt64(Self.version) else {
            throw .handover(
                "the former process wrote version \(head & 0xffff_ffff) of the document, this one "
                    + "reads version \(Self.version): stop the daemon and start it again")
        }
        let body = bytes.span.extracting(Self.headByteCount..<bytes.count)
        guard WireChecksum(of: body).value == sum else {
            throw .handover("the checksum of the document is not that of its bytes")
        }
        do throws(WireError) {
            var cursor = WireCursor(kept: 0)
            self = try Self.decode(body, &cursor)
        } catch {
            throw .handover("the document cannot be read: \(error)")
        }
    }
}

/// A socket where the daemon listens.
@WireCodable
struct HandedSocket: Equatable, Sendable {
    var role: Role
    var path: String
    /// The descriptor of the listening socket.
    var listener: Int32
    /// The descriptor of the path's lock; nil for a socket that a service manager has opened.
    var lock: Int32?

    /// What a socket is for.
    @WireCodable
    enum Role: String, CaseIterable, Sendable {
        case main
        case admin
        case metrics
    }
}

/// The socket of a connection.
@WireCodable
struct HandedLink: Equatable, Sendable {
    /// The connection's number.
    var connection: UInt64
    var descriptor: Int32
}
