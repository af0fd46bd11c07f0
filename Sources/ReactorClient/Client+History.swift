public import ReactorCore

// MARK: - The past
extension Client {
    /// The value of the slice at `path` as it was at a revision of the past; `nil` if nothing stood
    /// there then.
    public func get(
        _ path: String, at revision: Revision
    ) async throws(ClientError) -> (revision: Revision, value: WireValue?) {
        try await value(.past(path: path, at: revision))
    }

    /// Has the daemon take a snapshot.
    public func snapshot() async throws(ClientError) -> SnapshotMade {
        try await decoded(.snapshot)
    }

    /// Has the daemon copy its history into a new directory of its machine, which is to be an
    /// absolute path; for the daemon's own user and root.
    public func backup(to directory: String) async throws(ClientError) -> BackupMade {
        try await decoded(.backup(to: directory))
    }

    /// What happened at or below `path`, from a revision on or behind a page's mark; waits for
    /// something to happen where there is nothing, if `waits` says so.
    public func log(
        _ path: String, from revision: Revision? = nil, after mark: LogMark? = nil,
        waits: Bool = false
    ) async throws(ClientError) -> LogPage {
        try await decoded(.log(path: path, from: revision, after: mark, waits: waits))
    }

    /// The states at and below `path` as of one revision, page by page: `skip` is what the page
    /// before said, and `revision` its own.
    public func export(
        _ path: String, at revision: Revision? = nil, skip: UInt64 = 0
    ) async throws(ClientError) -> StatePage {
        try await decoded(.export(path: path, at: revision, skip: skip))
    }
}
