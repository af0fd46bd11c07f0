import ReactorCore

// MARK: - A full disk
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
}

// MARK: - Full memory
extension Server {
    /// Bytes that a start of the daemon needs beside its states: a part of a snapshot is read as a
    /// whole, and the largest has the size of the largest state. 0 if no history is kept, or if states
    /// are not counted. Call it between two turns; `isExact` as in ``StateCeiling``.
    package func startReserve(isExact: Bool) -> Int {
        chronicle.keepsHistory ? states.largestByteCount(isExact: isExact) : 0
    }
}
