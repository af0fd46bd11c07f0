import DequeModule
import ReactorWire

/// The bytes that were written to a connection and may have to be written again: buffers of
/// complete frames, in order.
struct SentActions {
    /// A buffer of complete frames, some of which are actions.
    struct Chunk {
        var bytes: [UInt8]
        var count: Int
        /// Ordinal of its last action.
        var last: UInt64
    }

    private(set) var chunks = Deque<Chunk>()

    mutating func append(_ chunk: Chunk) { chunks.append(chunk) }

    /// Drops the buffers whose actions all have ordinals up to `ordinal`.
    mutating func forget(upTo ordinal: UInt64) {
        while let chunk = chunks.first, chunk.last <= ordinal { chunks.removeFirst() }
    }

    /// Moves out all buffers, oldest first.
    mutating func removeAll() -> Deque<Chunk> {
        let all = chunks
        chunks.removeAll()
        return all
    }

    /// The frame of the action with an ordinal. *Cost*: walks the buffer that holds it.
    func frame(of ordinal: UInt64) -> [UInt8]? {
        guard let chunk = chunks.first(where: { $0.last >= ordinal }) else { return nil }
        var found: [UInt8]?
        chunk.forEachAction { number, range in
            if number == ordinal { found = Array(chunk.bytes[range]) }
        }
        return found
    }
}

extension SentActions.Chunk {
    /// Calls `body` with the ordinal and the range of each action in the buffer.
    func forEachAction(_ body: (UInt64, Range<Int>) -> Void) {
        ActionFrames.forEach(in: bytes.span, 0..<count, body)
    }
}
