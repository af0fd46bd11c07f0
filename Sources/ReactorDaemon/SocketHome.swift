import Foundation
import ReactorLoop

/// The socket's path with everything that guards it: its directory, its lock, its listener.
///
/// *Place*: opened at start, in that order; held until the process ends. A stale socket is removed,
/// a living daemon's never is.
final class SocketHome {
    let address: UnixAddress
    private let directory: RuntimeDirectory
    private let lock: LockFile
    private(set) var listener: Listener
    private let loop: EventLoop

    /// Takes the path that `candidate` names.
    ///
    /// *Throws*: ``ReactorLoop/LoopError`` with the reason: the directory is not safe, another
    /// daemon runs, something else is at the path.
    init(_ path: String, makesDirectory: Bool, on loop: EventLoop) throws(LoopError) {
        address = try UnixAddress(path)
        self.loop = loop
        directory =
            makesDirectory
            ? try RuntimeDirectory.openOrMake(at: address.directory)
            : try RuntimeDirectory(at: address.directory)
        lock = try LockFile(for: address, in: directory)
        try SocketFile.removeStale(at: address, in: directory, holding: lock)
        listener = try Listener(at: address, on: loop)
    }

    /// Binds anew if somebody took the socket's file away; says whether it did.
    func rebindIfLost() throws(LoopError) -> Bool {
        guard !listener.isClosed, !listener.isPathOurs else { return false }
        let onAccept = listener.onAccept
        try SocketFile.removeStale(at: address, in: directory, holding: lock)
        let successor = try Listener(at: address, on: loop)
        listener.close()
        listener = successor
        successor.onAccept = onAccept
        successor.resumeAccepting()
        return true
    }

    /// Stops listening and takes the socket's file away.
    func close() {
        listener.unlinkIfOurs()
        listener.close()
    }
}

extension SocketHome {
    /// The path that a daemon of this user binds, and whether it makes the directory.
    ///
    /// *Throws*: ``ReactorLoop/SocketPathError`` for a path that can be no socket's.
    static func choose(
        _ configured: String?, environment: [String: String], uid: UInt32
    ) throws(SocketPathError) -> (path: String, makesDirectory: Bool) {
        if let configured {
            if let refusal = SocketPathError(configured) { throw refusal }
            return (configured, false)
        }
        let candidate = try SocketCandidates.forDaemon(environment: environment, uid: uid) {
            directory in
            let attributes = try? FileManager.default.attributesOfItem(atPath: directory)
            return attributes?[.ownerAccountID] as? UInt32 == uid
                || (attributes?[.ownerAccountID] as? NSNumber)?.uint32Value == uid
        }
        return (candidate.path, candidate.isDirectoryCreated)
    }
}
