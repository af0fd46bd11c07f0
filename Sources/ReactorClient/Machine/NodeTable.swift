import DequeModule

/// A node that a client has opened or is about to.
struct NodeEntry {
    let path: String
    var state = State.opening
    /// The reactor's type, as the daemon names it.
    var reactor = ""
    var waiters: [(Result<NodeID, ClientError>) -> Void] = []
    /// The last request to open it.
    var request: UInt64 = 0
    /// Holders of the number: while there are any, it is given to no other path.
    fileprivate(set) var holderCount = 0
    /// True while its number is in the list of idle numbers.
    fileprivate var isListed = false
    /// True where it was held since it was listed.
    fileprivate var wasHeld = false

    enum State {
        /// Asked for, and never open before.
        case opening
        case open
        /// It was open, and the node is gone: the next that opens it asks the daemon.
        case stale
        /// It was open, and is asked for again.
        case reopening
    }

    fileprivate init(path: String) { self.path = path }
}

/// The nodes that a client has opened or is about to, by their numbers and by their paths.
///
/// *Shape*: once all numbers that a daemon takes are given, a path gets the number of another: of
/// those without holders the least recently used.
struct NodeTable {
    private var entries: [NodeEntry?] = []
    private var byPath: [String: UInt32] = [:]
    /// Numbers without an entry.
    private var free: [UInt32] = []
    /// Numbers without holders, or without when they were listed: the longest idle first.
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

    /// The number that stands for `path`.
    func index(of path: String) -> UInt32? { byPath[path] }

    /// Gives a path a number; past `countMax` of them that of a path without holders.
    mutating func add(_ path: String, countMax: Int) -> UInt32 {
        let index = number(countMax: countMax)
        entries[Int(index)] = NodeEntry(path: path)
        byPath[path] = index
        return index
    }

    /// Has a number stand for `path` as it did before, and holds it; it is to be opened again.
    mutating func restore(_ index: UInt32, _ path: String) {
        while entries.count <= Int(index) {
            free.append(UInt32(entries.count))
            entries.append(nil)
        }
        free.removeAll { $0 == index }
        var entry = NodeEntry(path: path)
        // Actions are under way to it: no other path gets its number if it is gone.
        entry.state = .reopening
        entries[Int(index)] = entry
        byPath[path] = index
        hold(index)
    }

    private mutating func number(countMax: Int) -> UInt32 {
        // The daemon refuses a number past its limit, every time.
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

    /// Has a number stand for its path until it was returned as often as it was held.
    mutating func hold(_ index: UInt32) {
        entries[Int(index)]?.holderCount += 1
        entries[Int(index)]?.wasHeld = true
    }

    /// A holder of a number needs it no more.
    mutating func giveBack(_ index: UInt32) {
        guard let count = self[index]?.holderCount, count > 0 else { return }
        entries[Int(index)]?.holderCount = count - 1
        if count == 1 { list(index) }
    }

    /// Frees a number that no caller was given.
    mutating func remove(_ index: UInt32) {
        guard let entry = self[index] else { return }
        byPath[entry.path] = nil
        entries[Int(index)] = nil
        free.append(index)
    }

    /// The node of a number is gone.
    mutating func spoil(_ index: UInt32) {
        if self[index]?.state == .open { entries[Int(index)]?.state = .stale }
    }

    /// The nodes at `path`, and below it, are gone.
    mutating func spoil(from path: String) {
        let prefix = path == "/" ? path : path + "/"
        for index in entries.indices {
            guard let entry = entries[index], entry.state == .open else { continue }
            if entry.path == path || entry.path.hasPrefix(prefix) {
                entries[index]?.state = .stale
            }
        }
    }
}
