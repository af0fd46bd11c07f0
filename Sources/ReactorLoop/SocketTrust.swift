import Glibc

/// Which users a client takes for its daemon's.
///
/// *Place*: a client checks each connection with it, before it sends the first byte: whoever may
/// write to a directory may listen in it, in the daemon's name.
public struct SocketTrust: Equatable, Sendable {
    /// The users that are trusted everywhere, in rising order.
    public let uids: [UInt32]
    /// Whether the owner of the socket's directory is trusted as well, if the directory is in one
    /// that is root's alone: then root has given it to that user.
    public let trustsSystemDirectory: Bool

    /// Trusts the process's own user, root, and the user `named`.
    public init(named: UInt32? = nil, trustsSystemDirectory: Bool = false) {
        uids = Set([geteuid(), 0] + (named.map { [$0] } ?? [])).sorted()
        self.trustsSystemDirectory = trustsSystemDirectory
    }

    /// Checks who listens at `address`, and who may replace the socket there.
    ///
    /// *Throws*: ``LoopError/untrustedSocket(path:_:)``. *C*: `stat` of the directory and, where the
    /// system's is trusted, of the one above.
    public func check(_ peer: PeerCredentials, at address: UnixAddress) throws(LoopError) {
        var directory = stat()
        guard unsafe stat(address.directory, &directory) == 0 else {
            throw .call(.system("stat", address.directory))
        }
        var trusted = uids
        if trustsSystemDirectory, Self.isRootsAlone(address.directory + "/..") {
            trusted.append(directory.st_uid)
        }
        guard trusted.contains(peer.uid) else {
            throw .untrustedSocket(
                path: address.path, .isServedBy(uid: peer.uid, expected: uids))
        }
        guard trusted.contains(directory.st_uid) else {
            throw .untrustedSocket(
                path: address.path,
                .directory(
                    address.directory, .isOwnedBy(owner: directory.st_uid, expected: peer.uid)))
        }
        guard directory.st_mode & (S_IWGRP | S_IWOTH) == 0 else {
            throw .untrustedSocket(
                path: address.path,
                .directory(
                    address.directory, .isWritableByOthers(mode: directory.st_mode & 0o7777)))
        }
    }

    private static func isRootsAlone(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_uid == 0
            && status.st_mode & (S_IWGRP | S_IWOTH) == 0
    }
}

/// Why a socket that accepts is not taken for the daemon's.
public enum SocketTrustFault: Equatable, Sendable {
    /// A process of another user listens there.
    case isServedBy(uid: UInt32, expected: [UInt32])
    /// Others may put another socket there.
    case directory(String, DirectoryFault)
}

extension SocketTrustFault: CustomStringConvertible {
    /// The reason and what helps, to follow the socket's path.
    public var description: String {
        switch self {
        case .isServedBy(let uid, let expected):
            "is served by uid \(uid), expected uid "
                + expected.map(String.init).joined(separator: " or ")
                + "; if the daemon runs as uid \(uid), name that user"
        case .directory(let path, let fault):
            "cannot be trusted: its directory \(path) \(fault)"
        }
    }
}
