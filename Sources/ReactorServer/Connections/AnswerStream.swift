import ReactorWire

/// An encoded answer that several connections share.
final class Answer {
    let bytes: [UInt8]
    /// Number of connections that read it.
    private(set) var takerCount = 0
    /// Whether it answers the next request for the same slice.
    private(set) var isKept: Bool

    init(_ bytes: [UInt8], isKept: Bool) {
        self.bytes = bytes
        self.isKept = isKept
    }

    /// Counts one more reader; returns whether it is the first.
    func retain() -> Bool {
        takerCount += 1
        return takerCount == 1
    }

    /// Counts one reader less; returns whether it was the last.
    func release() -> Bool {
        precondition(takerCount > 0, "an answer is released by more connections than took it")
        takerCount -= 1
        return takerCount == 0
    }

    /// Stops its reuse for further requests.
    func forget() { isKept = false }
}

/// A large answer that one connection reads in parts.
struct AnswerStream {
    /// The request that it answers.
    let number: UInt64
    /// Bytes before the shared ones.
    let prefix: [UInt8]
    let answer: Answer
    /// The turn that produced it: it leaves when that turn's batch is appended.
    let turn: UInt64
    /// Time at which the socket last took a part, in nanoseconds.
    private(set) var movedAt: UInt64
    /// Bytes of prefix and answer that were sent.
    private var offset = 0

    init(_ number: UInt64, _ prefix: [UInt8], _ answer: Answer, turn: UInt64, at now: UInt64) {
        self.number = number
        self.prefix = prefix
        self.answer = answer
        self.turn = turn
        movedAt = now
    }

    /// Number of bytes of prefix and answer that were not sent.
    var restCount: Int { prefix.count + answer.bytes.count - offset }

    /// Whether all of it was sent.
    var isComplete: Bool { restCount == 0 }

    /// Appends the next part as a frame; all but the last have the flag "more".
    mutating func appendPart(to writer: inout WireWriter, at now: UInt64) {
        movedAt = now
        let total = prefix.count + answer.bytes.count
        let end = min(total, offset + WireWriter.partBytesMax)
        let frame = writer.beginFrame(.answer, flags: end < total ? .more : [], number: number)
        if offset < prefix.count {
            writer.raw(prefix.span.extracting(offset..<min(end, prefix.count)))
        }
        if end > prefix.count {
            let bytes = answer.bytes
            let start = max(offset, prefix.count) - prefix.count
            writer.raw(bytes.span.extracting(start..<(end - prefix.count)))
        }
        writer.endFrame(at: frame)
        offset = end
    }
}

extension WireWriter {
    /// Maximum body of one part, in bytes.
    static let partBytesMax = 64 << 10

    /// Appends a value as frames of at most ``partBytesMax`` each; all but the last have the flag
    /// "more".
    mutating func parts(
        _ kind: FrameKind, flags: FrameFlags = [], id: UInt32 = 0, number: UInt64,
        body: Span<UInt8>
    ) {
        var start = 0
        repeat {
            let end = min(body.count, start + Self.partBytesMax)
            let partFlags = end < body.count ? flags.union(.more) : flags
            let frame = beginFrame(kind, flags: partFlags, id: id, number: number)
            raw(body.extracting(start..<end))
            endFrame(at: frame)
            start = end
        } while start < body.count
    }
}
