/// Tracks whether the watch misses entries, and when to open it again.
///
/// *Shape*: a watch that was opened again for a gap is not opened once more for the next gap, since
/// events of the former watch may still arrive. It is, if an entry that a look saw is still missing
/// at the next look, and no entry came in between.
struct WatchFeed {
    private(set) var isOpen = false
    /// True from the opening until the first entry.
    private var isFresh = false
    /// The head that the last look saw, and the last entry taken then.
    private var lastPoll: (head: UInt64, read: UInt64)?

    /// A watch was opened.
    mutating func open() {
        isOpen = true
        isFresh = true
        lastPoll = nil
    }

    /// The watch ended.
    mutating func close() { isOpen = false }

    /// An entry was taken.
    mutating func advance() { isFresh = false }

    /// An entry after a missing one came. Returns whether to open the watch again.
    func mustReopenAtGap() -> Bool { isOpen && !isFresh }

    /// A look saw `head`, and `read` is the last entry taken. Returns whether to open the watch
    /// again.
    mutating func poll(head: UInt64, read: UInt64) -> Bool {
        defer { lastPoll = (head, read) }
        guard isOpen, let lastPoll else { return false }
        return read < lastPoll.head && read == lastPoll.read
    }
}
