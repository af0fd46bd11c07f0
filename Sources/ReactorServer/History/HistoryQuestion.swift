/// What a client missed of a node, as far as memory does not hold it any more.
public struct HistoryQuestion: Sendable, Equatable {
    /// Names the question.
    public let number: UInt64
    /// The user that waits for the answer.
    public let uid: UInt32
    /// The node whose deltas are wanted.
    public let node: UInt32
    /// The history that the sequences are of.
    public let epoch: UInt64
    /// The client has what happened up to here.
    public let after: UInt64
    /// Memory has what happened behind this.
    public let upTo: UInt64
    /// Most bytes of an answer; what is more is no answer.
    public let byteCountMax: Int
}

extension HistoryQuestion {
    /// Appends those frames of a row's that answer the question; says whether it is still to be
    /// answered.
    public func take(_ deltas: [UInt8], into frames: inout [UInt8]) -> Bool {
        DeltaRing.copy(
            from: deltas, 0..<deltas.count, of: node, after: after, upTo: upTo, into: &frames)
        return frames.count <= byteCountMax
    }
}
