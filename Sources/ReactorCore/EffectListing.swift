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

/// The effects that were told to end when their daemon ends.
public struct EffectRollCall {
    /// In the order in which they were asked for.
    private var called: [(id: EffectID, listing: EffectListing)] = []

    fileprivate init(_ called: [(id: EffectID, listing: EffectListing)]) { self.called = called }

    /// Those that have not ended.
    public func missing(in tree: Tree) -> [EffectListing] {
        called.filter { tree.orphans.contains($0.id) }.map(\.listing)
    }
}

extension Tree {
    /// Cancels all effects and sagas, and tells whose end is to be waited for: theirs, and that of
    /// those which were cancelled before and still run.
    public func dismissEffects() -> EffectRollCall {
        let ids = orphans.union(running.sorted.map(\.id)).sorted { $0.number < $1.number }
        let called = ids.map { id in
            let effect = running[id]
            let listing = EffectListing(
                path: node(id.node)?.path ?? .root, cancelID: effect?.cancelID,
                sequence: effect?.sequence ?? 0, isSource: effect?.isSource ?? false)
            return (id: id, listing: listing)
        }
        for id in ids { cancelEffect(id) }
        return EffectRollCall(called)
    }

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
