import DequeModule

/// A node that a client has opened or is about to open.
struct NodeEntry {
    let path: String
    var state = State.opening
    /// The reactor's type, as the daemon names it.
    var reactor = ""
    var waiters: [(Result<NodeID, ClientError>) -> Void] = []
    /// Number of the last request to open the node.
    var request: UInt64 = 0
    /// Number of holders; the number is not reused for another path while there are any.
    fileprivate(set) var holderCount = 0
    /// True while the number is in the list of idle numbers.
    fileprivate var isListed = false
    /// True if the number was held since it was listed.
    fileprivate var wasHeld = false

    enum State {
        /// Requested, and never open before.
        case opening
        case open
        /// The node was open, and is gone: the next caller that opens it asks the daemon.
        case stale
        /// The node was open, and is requested again.
        case reopening
    }

    fileprivate init(path: String) { self.path = path }
}

/// The nodes that a client has opened or is about to open, by their numbers and by their paths.
///
/// *Shape*: once every number that the daemon accepts is in use, a new path takes the number of the
/// least recently used path without holders.
struct NodeTable {
    private var entries: [NodeEntry?] = []
    private var byPath: [String: UInt32] = [:]
    /// Numbers without an entry.
    private var free: [UInt32] = []
    /// Numbers that had no holders when they were listed, the longest idle first. Some may be held
    /// again.
    private var idle = Deque<UInt32>()

    /// Numbers with an entry.
    var indices: [UInt32] {
        entries.indices.filter { entries[$0] != nil }.map { UInt32($0) }
    }

    /// The entry of a number, if it has one.
    subscript(index: UInt32) -> NodeEntry? {
        get { Int(index) < entries.count ? entries[Int(index)] : nil }
        set { if Int(index) < entries.count { entries[Int(index)] = newValue } }
    }

    /// The number of `path`.
    func index(of path: String) -> UInt32? { byPath[path] }

    /// Assigns a number to a path; past `countMax` numbers, reuses one without holders.
    mutating func add(_ path: String, countMax: Int) -> UInt32 {
        let index = number(countMax: countMax)
        entries[Int(index)] = NodeEntry(path: path)
        byPath[path] = index
        return index
    }

    /// Assigns a number to `path` as an earlier run did, and holds it; the node is to be opened
    /// again.
    mutating func restore(_ index: UInt32, _ path: String) {
        while entries.count <= Int(index) {
            free.append(UInt32(entries.count))
            entries.append(nil)
        }
        free.removeAll { $0 == index }
        var entry = NodeEntry(path: path)
        // Actions to this node are under way: a node that is gone keeps its number.
        entry.state = .reopening
        entries[Int(index)] = entry
        byPath[path] = index
        hold(index)
    }

    private mutating func number(countMax: Int) -> UInt32 {
        // The daemon refuses every number past its limit.
        while let index = free.popLast() { if index < countMax { return index } }
        if entries.count >= countMax, let index = takeIdle() { return index }
        entries.append(nil)
        return UInt32(entries.count - 1)
    }

    private mutating func takeIdle() -> UInt32? {
        while let index = idle.popFirst() {
            guard var entry = entries[Int(index)] else { continue }
            entry.isListed = false
            entries[Int(index)] = entry
            guard entry.holderCount == 0 else { continue }
            if entry.wasHeld {
                list(index)
            } else {
                byPath[entry.path] = nil
                return index
            }
        }
        return nil
    }

    private mutating func list(_ index: UInt32) {
        guard entries[Int(index)]?.isListed == false else { return }
        entries[Int(index)]?.isListed = true
        entries[Int(index)]?.wasHeld = false
        idle.append(index)
    }

    /// Keeps a number assigned to its path until it is given back as often as it was held.
    mutating func hold(_ index: UInt32) {
        entries[Int(index)]?.holderCount += 1
        entries[Int(index)]?.wasHeld = true
    }

    /// Removes one holder of a number.
    mutating func giveBack(_ index: UInt32) {
        guard let count = self[index]?.holderCount, count > 0 else { return }
        entries[Int(index)]?.holderCount = count - 1
        if count == 1 { list(index) }
    }

    /// Frees a number that no caller has received.
    mutating func remove(_ index: UInt32) {
        guard let entry = self[index] else { return }
        byPath[entry.path] = nil
        entries[Int(index)] = nil
        free.append(index)
    }

    /// Marks the node of a number as gone.
    mutating func invalidate(_ index: UInt32) {
        if self[index]?.state == .open { entries[Int(index)]?.state = .stale }
    }

    /// Marks the nodes at and below `path` as gone.
    mutating func invalidate(from path: String) {
        let prefix = path == "/" ? path : path + "/"
        for index in entries.indices {
            guard let entry = entries[index], entry.state == .open else { continue }
            if entry.path == path || entry.path.hasPrefix(prefix) {
                entries[index]?.state = .stale
            }
        }
    }
}
