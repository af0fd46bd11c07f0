import ReactorCore
import ReactorThreads

@testable import ReactorClient

extension WatchFeed {
    /// The revision of the value that is shown; `nil` before the first.
    var revision: Revision? { state.withLock(\.revision) }

    /// Whether there will be no more values: the node was removed.
    var hasFailed: Bool { state.withLock(\.error) != nil }

    /// The value that is shown; `nil` if nothing stands there.
    var bytes: [UInt8]? { (try? state.withLock(\.held).decoded())??.wireBytes() }
}
