import ReactorCore
package import ReactorWire

// MARK: - A full disk, and full memory
extension Server {
    /// Which actions are admitted.
    package var admission: Admission { chronicle.admission }

    /// True while every action is refused because the journal cannot write.
    package var isReadOnly: Bool { chronicle.isReadOnly }

    /// By how many bytes states shrank while only shrinking actions were admitted.
    package var shrunkByteCount: Int { dispatcher.shrunkByteCount }

    /// Admits actions and starts the reactors, as part of the current turn.
    ///
    /// With `admission` ``Admission/shrinking``, only actions that make the tree smaller are
    /// admitted; see ``admitAll()``.
    package func goOn(_ admission: Admission = .all) { goOn(admission, keeping: []) }

    /// Does the same without an end of what `connections` own, which come from a former process.
    func goOn(_ admission: Admission = .all, keeping connections: Set<UInt64>) {
        chronicle.goOn(admission)
        tree.endFormerConnections(except: connections)
        tree.resumeTasks()
        tree.open()
    }

    /// Admits only actions that make the tree smaller, until ``admitAll()``.
    package func limitGrowth() { chronicle.limitGrowth() }

    /// Admits every action again.
    package func admitAll() { chronicle.admitAll() }

    // MARK: Full memory

    /// The differences between the counted bytes of users and their buffers; `distort` changes the
    /// counts, for a test of the comparison. *Cost*: O(waiting bytes).
    package func ledgerDifferences(
        _ distort: (inout [UInt32: MemoryCharge]) -> Void = { _ in }
    ) -> [String] {
        answers.meter.ledgerDifferences(answerByteCount: answers.table.busyByteCount, distort)
            + states.differences()
    }

    /// Bytes that a start of the daemon needs beside its states: a part of a snapshot is read as a
    /// whole, and the largest has the size of the largest state. 0 if no history is kept, or if states
    /// are not counted. Call it between two turns; `isExact` as in ``StateCeiling``.
    package func startReserve(isExact: Bool) -> Int {
        chronicle.keepsHistory ? states.largestByteCount(isExact: isExact) : 0
    }

    /// Claims memory for a state of the past that a client of this user asks for, and charges it to
    /// the user until ``endPast(of:)``: a second tree, and the largest part of a snapshot.
    ///
    /// *Throws*: BUSY with the limit, the bytes kept and the bytes requested.
    package func claimPast(of peer: Peer) throws(Refusal) {
        let byteCount = states.byteCount + states.largestByteCount(isExact: false)
        let quota = intake.quotas.rules.quota(of: peer).memoryMax
        try answers.meter.room.claimPast(
            byteCount, of: peer.uid,
            keeping: answers.meter.ledger.charges[peer.uid]?.total ?? 0,
            max: quota ?? limits.memoryPerUIDMax)
    }

    /// Ends the charge of a state of the past.
    package func endPast(of uid: UInt32) { answers.meter.room.endPast(of: uid) }
}
