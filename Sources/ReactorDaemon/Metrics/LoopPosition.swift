import ReactorServer
import ReactorThreads

/// Where a daemon's loop is, for the watchdog's thread.
///
/// *Owner*: the loop's thread writes, any thread reads.
final class LoopPosition: Sendable {
    /// The client whose input the loop handles.
    struct Client: Equatable, Sendable {
        let connection: ConnectionID
        let peer: Peer?
    }

    private let state = Guarded<(beats: UInt64, client: Client?)>((0, nil))

    /// Makes a position before the first beat.
    init() {}

    /// Number of beats, and the client whose input is handled; nil between inputs.
    var now: (beats: UInt64, client: Client?) { state.withLock { $0 } }

    /// Records that the loop's timer fired.
    func beat() { state.withLock { $0.beats &+= 1 } }

    /// Records that the loop handles the input of a client.
    func enter(_ connection: ConnectionID, _ peer: Peer?) {
        state.withLock { $0.client = Client(connection: connection, peer: peer) }
    }

    /// Records that the loop has handled the input.
    func leave() { state.withLock { $0.client = nil } }
}
