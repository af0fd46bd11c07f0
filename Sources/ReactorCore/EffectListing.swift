/// An effect that was asked for and has not ended, for those who look at a tree from outside.
public struct EffectListing: Equatable, Sendable {
    /// The path of its reactor.
    public let path: SlicePath
    /// The name by which it can be cancelled, if it has one.
    public let cancelID: String?
    /// Sequence of the transaction that asked for it.
    public let sequence: UInt64
    /// Whether it reads a source, or a stream of a transform, for as long as its reactor lives.
    public let isSource: Bool
}

extension Tree {
    /// The effects that have not ended, in the order in which they were asked for.
    public var effectsUnderWay: [EffectListing] {
        running.sorted.compactMap { id, effect in
            guard let node = node(id.node) else { return nil }
            return EffectListing(
                path: node.path, cancelID: effect.cancelID, sequence: effect.sequence,
                isSource: effect.isSource)
        }
    }
}
