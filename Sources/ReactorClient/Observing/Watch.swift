public import ReactorCore
import ReactorThreads

/// The values of a slice over time, conflated to the latest: first the current one.
///
/// Continues across lost connections. *Throws*: ``ClientError`` if there is no such path, the node
/// was removed, or the client has ended.
public struct Watch: AsyncSequence, Sendable {
    /// A value and its revision; `nil` if there is no node at the path.
    public typealias Element = (revision: Revision, value: WireValue?)

    let feed: WatchFeed

    /// Makes a reader, which starts with the current value.
    public func makeAsyncIterator() -> Iterator { Iterator(feed: feed) }

    /// One reader's position in the sequence.
    public struct Iterator: AsyncIteratorProtocol {
        let feed: WatchFeed
        private var seen: UInt64 = 0

        init(feed: WatchFeed) { self.feed = feed }

        /// The next value; `nil` if the task is cancelled.
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

/// The value of a slice: the bytes that the daemon sent, or the value that patches gave.
enum HeldValue: Sendable {
    case absent
    // A value that is replaced before it is read is never decoded.
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

    /// True if both are equal; false if one of them cannot be decoded.
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

/// The present value of a watched slice; the watch ends with its last reader.
final class WatchFeed: Sendable {
    let state = Guarded(State())
    let changed = ChangeSignal()
    private let onEnd: @Sendable () -> Void

    struct State: Sendable {
        /// Number of values so far.
        var count: UInt64 = 0
        var revision: Revision?
        var held = HeldValue.absent
        var error: ClientError?
    }

    init(onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }

    deinit { onEnd() }
}

/// The latest value that a client has received of a slice, for a shell of the program's own.
package final class FollowedValue {
    private let feed: WatchFeed

    init(_ feed: WatchFeed) { self.feed = feed }

    /// The value; nil before the first, and while nothing is at the path.
    package var value: WireValue? {
        let held = feed.state.withLock(\.held)
        return (try? held.value()) ?? nil
    }
}

/// The part of a watch on the client's thread.
final class WatchSink: SliceSink {
    let id: UInt64
    private weak var feed: WatchFeed?
    /// The value that took effect last; `nil` before the first one.
    private var held: HeldValue?
    private var staged: Staged?

    private struct Staged {
        var held: HeldValue
        var sequence: UInt64
        /// Whether the value differs from the value that took effect last, if that is known.
        var isDifferent: Bool?
    }

    init(_ id: UInt64, _ feed: WatchFeed) {
        self.id = id
        self.feed = feed
    }

    var isReleased: Bool { feed == nil }

    var takesPatches: Bool { true }

    func granted(_ slice: UInt32, epoch: UInt64) {}

    func stage(value: Span<UInt8>, isAbsent: Bool, sequence: UInt64) throws(WireError) {
        var copy: [UInt8] = []
        copy.append(contentsOf: value, 0..<value.count)
        staged = Staged(held: isAbsent ? .absent : .bytes(copy), sequence: sequence)
    }

    func stage(patch: Span<UInt8>, sequence: UInt64) throws(WireError) {
        // A sink that joins a followed slice gets a value of its own, after the patches on their
        // way.
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
        // A new connection repeats the last value.
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
