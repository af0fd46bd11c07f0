/// An effect that was requested and has not ended, for observers outside the tree.
package struct EffectListing: Equatable, Sendable {
    /// The path of its reactor.
    package let path: SlicePath
    /// Its cancel id, if it has one.
    package let cancelID: String?
    /// Sequence of the transaction that asked for it.
    package let sequence: UInt64
    /// Whether it reads a source, or a stream of a transform, as long as its reactor lives.
    package let isSource: Bool
}

/// The effects that were cancelled because their daemon is shutting down.
package struct DismissedEffects {
    /// In the order of the requests.
    private var called: [(id: EffectID, listing: EffectListing)] = []

    init(_ called: [(id: EffectID, listing: EffectListing)]) { self.called = called }

    /// The effects whose ids fulfil `isRunning`.
    func listings(where isRunning: (EffectID) -> Bool) -> [EffectListing] {
        called.filter { isRunning($0.id) }.map(\.listing)
    }
}
