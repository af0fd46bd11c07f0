import Glibc

/// The users that a client accepts as the daemon's.
///
/// *Place*: a client checks each connection with it before it sends the first byte: any user with
/// write access to the socket's directory could listen there in the daemon's place.
package struct SocketTrust: Equatable, Sendable {
    /// The users that are trusted everywhere, in ascending order.
    package let uids: [UInt32]
    /// Whether the owner of the socket's directory is trusted as well, if only root can write to
    /// the directory above: then root has given the directory to that user.
    package let trustsSystemDirectory: Bool

    /// Trusts the process's own user, root, and the user `named`.
    package init(named: UInt32? = nil, trustsSystemDirectory: Bool = false) {
        uids = Set([geteuid(), 0] + (named.map { [$0] } ?? [])).sorted()
        self.trustsSystemDirectory = trustsSystemDirectory
    }

    /// Checks the user of the listener at `address`, and the users that can replace the socket.
    ///
    /// *Throws*: ``LoopError/untrustedSocket(path:_:)``. *C*: `stat` of the directory and, if the
    /// system's directory is trusted, of the one above.
    package func check(_ peer: PeerCredentials, at address: UnixAddress) throws(LoopError) {
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
