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
                    return (revision, try Self.read(now.bytes))
                }
                if let error = now.error { throw error }
                await feed.changed.change(after: version)
            }
            return nil
        }

        private static func read(_ bytes: [UInt8]?) throws(ClientError) -> WireValue? {
            guard let bytes else { return nil }
            do throws(WireError) {
                return try WireValue(wireBytes: bytes)
            } catch {
                throw .daemonFault("value: \(error)")
            }
        }
    }
}

/// What a watched slice holds now; ends the watching when nobody reads it any more.
final class WatchFeed: Sendable {
    let state = Guarded(State())
    let changed = ChangeSignal()
    private let onEnd: @Sendable () -> Void

    struct State: Sendable {
        /// Values so far.
        var count: UInt64 = 0
        var revision: Revision?
        var bytes: [UInt8]?
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
    private var staged: (bytes: [UInt8]?, sequence: UInt64)?

    init(_ id: UInt64, _ feed: WatchFeed) {
        self.id = id
        self.feed = feed
    }

    var isReleased: Bool { feed == nil }

    func stage(value: Span<UInt8>, isAbsent: Bool, sequence: UInt64) throws(WireError) {
        var copy: [UInt8] = []
        copy.append(contentsOf: value, 0..<value.count)
        staged = (isAbsent ? nil : copy, sequence)
    }

    func stage(delta: Span<UInt8>, from offset: Int) throws(WireError) {}

    func discard() { staged = nil }

    func commit(epoch: UInt64) {
        guard let staged else { return }
        self.staged = nil
        feed?.state.withLock { state in
            // because a new connection tells again what the last one had told
            if state.revision != nil, state.bytes == staged.bytes { return }
            state.count += 1
            state.revision = Revision(epoch: epoch, sequence: staged.sequence)
            state.bytes = staged.bytes
        }
    }

    func announce() { feed?.changed.publish() }

    func setLive(_ isLive: Bool) {}

    func fail(_ error: ClientError) {
        feed?.state.withLock { $0.error = error }
        feed?.changed.publish(isLast: true)
    }
}

// MARK: - Watching
extension ClientMachine {
    /// Ends the watching that was begun under `id`.
    func leave(watch id: UInt64) {
        for subscription in subscriptions where subscription.mode == .value {
            for case let sink as WatchSink in subscription.sinks where sink.id == id {
                return leave(sink)
            }
        }
    }
}
