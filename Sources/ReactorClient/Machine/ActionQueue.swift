import ReactorBytes
public import ReactorWire

/// The part of ``Outbox`` that every action uses: the bytes for the connection, and the ring of
/// actions without an outcome.
///
/// Its properties are not private: code that is inlined into programs encodes actions here.
@usableFromInline
struct ActionQueue: ~Copyable {
    /// Frames that the connection has not taken yet.
    @usableFromInline var writer = WireWriter(capacity: 4_096)
    @usableFromInline var pending = PendingActions()
    /// Limit of actions under way on the connection; 0 without a connection.
    @usableFromInline var window = 0
    /// Longest body that the daemon accepts, in bytes.
    @usableFromInline var bodyBytesMax = WireLimits.frameBytesMax
    /// True while a program's type encodes itself into ``writer``.
    @usableFromInline var isEncoding = false

    init() {}

    /// True if an action can be written now: the window has room, and no action waits before it.
    @inlinable
    var isOpen: Bool {
        // The bytes of the inner action would interrupt those of the outer one.
        precondition(!isEncoding, "an action dispatched another while it was being encoded")
        return pending.inFlight < window && pending.next == pending.sentEnd
    }

    /// Begins the frame of the next action and returns its offset; the caller encodes the action
    /// into ``writer`` and calls ``end(at:then:)``.
    @inlinable
    mutating func begin(_ node: NodeID) -> Int {
        let start = writer.beginFrame(.dispatch, id: node.rawValue, number: pending.next)
        isEncoding = true
        return start
    }

    /// Ends the frame that ``begin(_:)`` began, and counts its action as sent.
    ///
    /// *Throws*: ``ClientError/tooLarge(byteCount:bytesMax:)``; the frame is taken back.
    @inlinable
    mutating func end(
        at start: Int, then completion: PendingActions.Completion?
    ) throws(ClientError) {
        isEncoding = false
        writer.endFrame(at: start)
        guard writer.count &- start <= bodyBytesMax &+ FrameHeader.byteCount else {
            throw Self.refuse(&writer, from: start, bodyBytesMax: bodyBytesMax)
        }
        pending.append(completion)
        pending.send()
    }

    /// Takes back a frame that exceeds the daemon's limit.
    @usableFromInline
    static func refuse(
        _ writer: inout WireWriter, from start: Int, bodyBytesMax: Int
    ) -> ClientError {
        let byteCount = writer.count - start - FrameHeader.byteCount
        writer.truncate(to: start)
        return .tooLarge(byteCount: byteCount, bytesMax: bodyBytesMax)
    }
}
