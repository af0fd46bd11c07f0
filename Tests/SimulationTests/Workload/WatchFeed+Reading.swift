import ReactorCore
import ReactorThreads

@testable import ReactorClient

extension WatchFeed {
    /// The revision of the shown value; `nil` before the first.
    var revision: Revision? { state.withLock(\.revision) }

    /// Whether no further values follow: the node was removed.
    var hasFailed: Bool { state.withLock(\.error) != nil }

    /// The shown value; `nil` if nothing exists there.
    var bytes: [UInt8]? { (try? state.withLock(\.held).decoded())??.wireBytes() }
}
