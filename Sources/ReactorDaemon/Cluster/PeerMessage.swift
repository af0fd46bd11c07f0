import ReactorWire

/// A message between two daemons of a cluster.
///
/// *Shape*: a frame is the length in 4 bytes, the lowest first, and then the CBOR of the message,
/// which has that many bytes.
@WireCodable
enum PeerMessage: Equatable, Sendable {
    /// The first message of a follower: the cluster's name, the index of its node, and the number
    /// of its start.
    case hello(cluster: String, node: UInt8, incarnation: UInt64)
    /// The leader's answer to a hello: the link is open for this term.
    case welcome(term: UInt64)
    /// Why a daemon does not open the link, which it closes.
    case refused(String)
    /// A follower's sign of life, and the leader's answer to it. The sender of a copy sends it without
    /// being asked.
    case beat
    /// The first message of a daemon that wants a copy of the history instead of a link.
    case copy(cluster: String, node: UInt8)
    /// A file of the copy begins.
    case file(name: String, byteCount: UInt64)
    /// The next bytes of that file.
    case part([UInt8])
    /// The copy is complete, and ends with this row.
    case copied(row: UInt64)
    /// A follower's request. The transport does not know its content.
    case request([UInt8])
    /// The leader's reply to a request, or anything else for a follower. The transport does not
    /// know its content.
    case reply([UInt8])
}

extension PeerMessage {
    /// Maximum bytes of a message without its length: more than the largest frame that a
    /// configuration permits. Both sides close a link at a longer one.
    static let messageBytesMax = 68 << 20
    /// Maximum bytes of the content of a request or a reply; sending more closes the link.
    static let contentBytesMax = messageBytesMax - 64
    /// Bytes of the length before each message.
    static let lengthByteCount = 4

    /// The message with its length, as it is sent. *Cost*: two copies of the content.
    var frame: [UInt8] {
        let message = wireBytes()
        var frame: [UInt8] = []
        frame.reserveCapacity(Self.lengthByteCount + message.count)
        for index in 0..<Self.lengthByteCount {
            frame.append(UInt8(truncatingIfNeeded: message.count >> (8 * index)))
        }
        frame.append(contentsOf: message)
        return frame
    }
}

/// Why bytes of another daemon of the cluster cannot be used.
enum PeerFault: Error, Equatable {
    /// A message announces this many bytes, more than ``PeerMessage/messageBytesMax``.
    case tooLong(byteCount: Int)
    /// A message is no ``PeerMessage``.
    case unreadable(WireError)
}

extension PeerFault: CustomStringConvertible {
    var description: String {
        switch self {
        case .tooLong(let byteCount):
            "a message of \(byteCount) bytes exceeds messageBytesMax "
                + "\(PeerMessage.messageBytesMax)"
        case .unreadable(let error): "a message cannot be read: \(error)"
        }
    }
}

/// The received bytes of a link, as messages.
///
///     input.append(bytes)
///     while let message = try input.next() { take(message) }
///
/// *Shape*: the bytes may be split anywhere. At most one message and one read wait in memory, and
/// the memory for a message grows as its bytes arrive.
struct PeerInput {
    private var bytes: [UInt8] = []
    /// The number of bytes that were read as messages.
    private var offset = 0

    /// Appends bytes in the order in which they arrived.
    mutating func append(_ piece: Span<UInt8>) {
        bytes.append(contentsOf: piece, 0..<piece.count)
    }

    /// The next whole message; nil until the rest of it arrives.
    ///
    /// *Throws*: for a message that is too long, as soon as its length is known, or unreadable; no
    /// message can be read after it.
    mutating func next() throws(PeerFault) -> PeerMessage? {
        let start = offset + PeerMessage.lengthByteCount
        guard start <= bytes.count else {
            dropRead()
            return nil
        }
        let byteCount = Int(bytes.span.word(at: offset, byteCount: PeerMessage.lengthByteCount))
        guard byteCount <= PeerMessage.messageBytesMax else {
            throw .tooLong(byteCount: byteCount)
        }
        guard byteCount <= bytes.count - start else {
            dropRead()
            return nil
        }
        offset = start + byteCount
        do throws(WireError) {
            return try PeerMessage(wireBytes: bytes.span.extracting(start..<offset))
        } catch {
            throw .unreadable(error)
        }
    }

    private mutating func dropRead() {
        guard offset > 0 else { return }
        if offset == bytes.count { bytes = [] } else { bytes.removeFirst(offset) }
        offset = 0
    }
}
