public import ReactorCore
import ReactorThreads

/// The values of a slice over time, conflated to the latest: first the current one.
///
/// Keeps going across lost connections. *Throws*: ``ClientError`` when there is no such path, the
/// node was removed, or the client has ended.
public struct Watch: AsyncSequence, Sendable {
    /// A value with the revision that it is of; `nil` if nothing stands at the path.
    public typealias Element = (revision: Revision, value: WireValue?)

    let feed: WatchFeed

    /// A reader's place; each starts with the current value.
    public func makeAsyncIterator() -> Iterator { Iterator(feed: feed) }

    /// One reader's place.
    public struct Iterator: AsyncIteratorProtocol {
        let feed: WatchFeed
        private var seen: UInt64 = 0

        init(feed: WatchFeed) { self.feed = feed }

        /// The next value, once there is one; `nil` if the task is cancelled.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(ClientError) -> Element? {
            while !Task.isCancelled {
                let version = feed.changed.version
                let now = feed.state.withLock { $0 }
                if now.count > seen, let revision = now.revision {
                    seen = now.count
                    return (revision, try now.held.value())
                }
                if let error = now.error { throw error }
                await feed.changed.change(after: version)
            }
            return nil
        }
    }
}

/// The value of a slice, as it came or as patches made it.
enum HeldValue: Sendable {
    case absent
    // A value that is replaced before it is read need not be decoded.
    case bytes([UInt8])
    case value(WireValue)

    func value() throws(ClientError) -> WireValue? {
        do throws(WireError) {
            return try decoded()
        } catch {
            throw .daemonFault("value: \(error)")
        }
    }

    func decoded() throws(WireError) -> WireValue? {
        switch self {
        case .absent: nil
        case .bytes(let bytes): try WireValue(wireBytes: bytes)
        case .value(let value): value
        }
    }

    /// True where both are the same; false where one of them cannot be decoded.
    func isSame(as other: HeldValue) -> Bool {
        switch (self, other) {
        case (.absent, .absent): return true
        case (.bytes(let left), .bytes(let right)): return left == right
        case (.absent, _), (_, .absent): return false
        default:
            guard let left = try? decoded(), let right = try? other.decoded() else { return false }
            return left == right
        }
    }
}

/// What a watched slice holds now; the watching ends with its last reader.
final class WatchFeed: Sendable {
    let state = Guarded(State())
    let changed = ChangeSignal()
    private let onEnd: @Sendable () -> Void

    struct State: Sendable {
        /// Values so far.
        var count: UInt64 = 0
        var revision: Revision?
        var held = HeldValue.absent
        var error: ClientError?
    }

    init(onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }

    deinit { onEnd() }
}

/// A watcher's end on the client's thread.
final class WatchSink: SliceSink {
    let id: UInt64
    let fingerprint: UInt64 = 0
    private weak var feed: WatchFeed?
    /// What took effect last; `nil` before the first value.
    private var held: HeldValue?
    private var staged: Staged?

    private struct Staged {
        var held: HeldValue
        var sequence: UInt64
        /// If it differs from what took effect last, where that is known.
        var isDifferent: Bool?
    }

    init(_ id: UInt64, _ feed: WatchFeed) {
        self.id = id
        self.feed = feed
    }

    var isReleased: Bool { feed == nil }

    var takesPatches: Bool { true }

    func granted(_ slice: UInt32, of reactor: String, epoch: UInt64) {}

    func stage(value: Span<UInt8>, isAbsent: Bool, sequence: UInt64) throws(WireError) {
        var copy: [UInt8] = []
        copy.append(contentsOf: value, 0..<value.count)
        staged = Staged(held: isAbsent ? .absent : .bytes(copy), sequence: sequence)
    }

    func stage(patch: Span<UInt8>, sequence: UInt64) throws(WireError) {
        // A sink that joins others gets a value of its own, after what is on its way.
        guard let base = staged?.held ?? held else { return }
        guard var value = try base.decoded() else {
            throw WireError(.mismatch(expected: "a value to patch", got: "nothing"), at: 0)
        }
        let wasDifferent = staged.map { $0.isDifferent } ?? false
        let isDifferent = try value.apply(patch: patch)
        staged = Staged(
            held: .value(value), sequence: sequence,
            isDifferent: wasDifferent.map { $0 || isDifferent })
    }

    func stage(delta: Span<UInt8>, from offset: Int) throws(WireError) {}

    func discard() { staged = nil }

    func commit(epoch: UInt64) {
        guard let staged else { return }
        self.staged = nil
        // A new connection repeats what the last one had sent.
        let isNews = staged.isDifferent ?? !(held.map { $0.isSame(as: staged.held) } ?? false)
        held = staged.held
        feed?.state.withLock { state in
            state.held = staged.held
            if state.revision != nil, !isNews { return }
            state.count += 1
            state.revision = Revision(epoch: epoch, sequence: staged.sequence)
        }
    }

    func announce() { feed?.changed.publish() }

    func setLive(_ isLive: Bool) {}

    func fail(_ error: ClientError) {
        feed?.state.withLock { $0.error = error }
        feed?.changed.publish(isLast: true)
    }
}
