/// Tracks whether the watch misses entries, and when to open it again.
///
/// *Shape*: a watch that was opened again for a gap is not opened once more for the next gap, since
/// events of the former watch may still arrive. It is, if an entry that a look saw is still missing
/// ``pollInterval`` later, and no entry came in between.
struct WatchFeed {
    private(set) var isOpen = false
    /// Whether no entries are to be read.
    private(set) var isHeld = false
    /// True from the opening until the first entry.
    private var isFresh = false
    /// The head that the last look saw, the last entry taken then, and when that was.
    private var lastPoll: (head: UInt64, read: UInt64, at: UInt64)?

    /// Whether to open a watch.
    var mustOpen: Bool { !isOpen && !isHeld }

    /// Reads no entries while `isHeld` is true. Returns whether to end the watch.
    mutating func hold(_ isHeld: Bool) -> Bool {
        defer { isOpen = isOpen && !isHeld }
        self.isHeld = isHeld
        return isOpen && isHeld
    }

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

    /// Nanoseconds between two looks that count: etcd sends a new watch the former entries within a
    /// tenth of a second. Looks that confirm the state come sooner after one another.
    static let pollInterval: UInt64 = 300_000_000

    /// A look saw `head`, and `read` is the last entry taken. Returns whether to open the watch
    /// again.
    mutating func poll(head: UInt64, read: UInt64, at now: UInt64) -> Bool {
        guard let former = lastPoll else {
            lastPoll = (head, read, now)
            return false
        }
        guard now >= former.at + Self.pollInterval else { return false }
        lastPoll = (head, read, now)
        return isOpen && read < former.head && read == former.read
    }
}
