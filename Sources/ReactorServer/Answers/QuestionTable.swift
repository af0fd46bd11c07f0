import ReactorCore
import ReactorWire

/// A connection that waits for an encoding.
struct Asker {
    let connection: Connection
    /// The request that is answered.
    let number: UInt64
    let purpose: Purpose
    /// The tree's sequence at the request: the answer is not of an earlier revision.
    let sequence: UInt64

    /// What the answer is made of.
    enum Purpose {
        /// The answer is the encoding.
        case whole
        /// The answer is a revision, whether there is a value, and the encoding.
        case value
        /// The answer is a ``SliceChecksum``.
        case checksum
    }

    /// Whether the connection still waits for this answer.
    var isWaiting: Bool {
        !connection.isClosed && connection.requests.contains(number)
    }
}

/// Requests that wait, and facts about requested slices.
///
/// *Place*: ``AnswerService`` takes requests out at the end of a turn. Users take turns. Small
/// answers are encoded within the turn's share, large ones one after another off the loop.
struct QuestionTable {
    /// An encoding in progress off the loop.
    struct Running {
        let name: SliceName
        let state: SliceState
        var askers: [Asker]
        /// Bytes of deltas up to the captured state: see ``QuestionTable/grownBytes``.
        let grownBytes: UInt64
    }

    /// Facts about a slice that was encoded before.
    private struct Known {
        var state: SliceState
        var byteCount: Int
        var checksum: UInt64
        var grownBytes: UInt64
    }

    private struct Waiting {
        var askers: [Asker] = []
        /// Users whose queues contain the slice.
        var users: Set<UInt32> = []
        /// Whether these are the queues for encoding off the loop.
        var isLate = false
    }

    /// A slice that was taken out of a queue, with all its waiting requests.
    struct Taken {
        let name: SliceName
        let askers: [Asker]
        /// The user whose turn it was.
        fileprivate let uid: UInt32
        fileprivate let users: Set<UInt32>
    }

    private var waiting: [SliceName: Waiting] = [:]
    private var soon = RoundRobin<UInt32, SliceName>()
    private var late = RoundRobin<UInt32, SliceName>()
    /// Whether every user in ``late`` has as many large answers in progress as it may have.
    private(set) var isHeldUp = false
    private var known: [SliceName: Known] = [:]
    /// Bytes of the turn's share that are spent.
    private(set) var spentBytes = 0
    /// The encoding in progress off the loop.
    private var running: Running?
    /// The encoding, once it is complete.
    private var finished: SliceEncoding?
    /// Bytes of the deltas of all turns: no slice has grown by much more. For a recovered tree,
    /// whose size is unknown, more than any slice has.
    private(set) var grownBytes: UInt64 = 0

    /// Maximum number of slices with known facts; beyond it, all are dropped together.
    private static let knownMax = 1_024
    /// ``grownBytes`` of a tree of unknown size.
    static let unknownBytes: UInt64 = 1 << 50

    /// Whether a request waits or is being processed.
    var isActive: Bool { !waiting.isEmpty || running != nil }

    /// Whether requests wait for the share of a turn.
    var hasSoon: Bool { !soon.isEmpty }

    /// Number of slices in the queues of all users for the share of a turn.
    var soonCount: Int { soon.count }

    /// Number of slices in the queues of all users for encoding off the loop.
    var lateCount: Int { late.count }

    /// Whether requests wait for encoding off the loop.
    var hasLate: Bool { !late.isEmpty }

    /// Whether requests wait for encoding off the loop whose users may have another large answer.
    var hasEligibleLate: Bool { !late.isEmpty && !isHeldUp }

    /// Whether a slice is being encoded off the loop.
    var isEncoding: Bool { running != nil }

    /// The slice that is being encoded off the loop, as a question, and the first connection that
    /// waits for it.
    var runningSubject: EncodingSubject? {
        guard let running, let asker = running.askers.first else { return nil }
        let name =
            switch running.name.form {
            case .value: "get"
            case .replica: "checksum"
            case .description: "describe"
            case .entries: "tree"
            case .counters: "stats"
            case .selection: "select"
            }
        return EncodingSubject(
            name: name, path: running.name.path.description, connection: asker.connection.id,
            peer: asker.connection.peer)
    }

    /// Whether a complete encoding waits for ``takeFinished()``.
    var hasFinished: Bool { finished != nil }

    /// Checks the invariants, in debug builds.
    @inline(__always)
    private func invariants() {
        assert(running != nil || finished == nil, "an encoding is made that was not begun")
        assert(
            waiting.count > 32
                || waiting.values.allSatisfy { !$0.askers.isEmpty && !$0.users.isEmpty },
            "a slice waits that no connection asks for")
        assert(known.count <= Self.knownMax, "\(known.count) slices are known")
    }

    /// Queues a request for the end of the turn; `node` is at its path.
    mutating func list(_ asker: Asker, for name: SliceName, of node: AnyNode) {
        // A checksum is announced with the turn's mark, so its request joins at the end of the
        // turn.
        if asker.purpose != .checksum, isRunning(name, of: node) {
            running?.askers.append(asker)
            return
        }
        let uid = asker.connection.peer.uid
        waiting[name, default: Waiting()].askers.append(asker)
        guard waiting[name]?.users.insert(uid).inserted ?? false else { return }
        if waiting[name]?.isLate ?? false {
            late.append(name, of: uid)
            isHeldUp = false
        } else {
            soon.append(name, of: uid)
        }
        invariants()
    }

    /// Adds requests to the encoding in progress, if that is of their slice's current state.
    /// Returns whether it did. Their answers are as of `sequence`.
    mutating func join(_ taken: Taken, of node: AnyNode, at sequence: UInt64) -> Bool {
        guard isRunning(taken.name, of: node) else { return false }
        running?.askers += taken.askers.map { asker in
            Asker(
                connection: asker.connection, number: asker.number, purpose: asker.purpose,
                sequence: sequence)
        }
        return true
    }

    private func isRunning(_ name: SliceName, of node: AnyNode) -> Bool {
        guard let running else { return false }
        return running.name == name && running.state.isCurrent(of: node)
    }

    /// The waiting requests of a connection, with those of the encoding in progress.
    func askers(of connection: Connection) -> [Asker] {
        (waiting.values.flatMap(\.askers) + (running?.askers ?? []))
            .filter { $0.connection === connection && $0.isWaiting }
            .sorted { $0.number < $1.number }
    }

    /// Takes the next slice that may fit the turn's share.
    mutating func popSoon() -> Taken? {
        while let (uid, name) = soon.popFirst() {
            if let taken = remove(name, uid, isLate: false) { return taken }
        }
        return nil
    }

    /// Takes the next slice to encode off the loop, of a user for which `mayGo` returns true.
    mutating func popLate(where mayGo: (UInt32) -> Bool = { _ in true }) -> Taken? {
        while let (uid, name) = late.popFirst(where: mayGo) {
            if let taken = remove(name, uid, isLate: true) { return taken }
        }
        isHeldUp = !late.isEmpty
        return nil
    }

    /// Records that users with enough large answers in progress may have fewer now.
    mutating func goOn() { isHeldUp = false }

    /// Whether a user waits for encoding off the loop since it has enough large answers.
    func isHeldUp(_ uid: UInt32) -> Bool { isHeldUp && late.contains(uid) }

    private mutating func remove(_ name: SliceName, _ uid: UInt32, isLate: Bool) -> Taken? {
        // A slice that was taken out in another user's turn is still in this queue.
        guard let entry = waiting[name], entry.isLate == isLate else { return nil }
        waiting[name] = nil
        let askers = entry.askers.filter(\.isWaiting)
        guard !askers.isEmpty else { return nil }
        return Taken(name: name, askers: askers, uid: uid, users: entry.users)
    }

    /// Puts a slice back as the first of the next turn.
    mutating func restoreSoon(_ taken: Taken) {
        waiting[taken.name] = Waiting(askers: taken.askers, users: taken.users)
        soon.restore(taken.name, of: taken.uid)
    }

    /// Puts a slice back as the first, until there is room for its answer.
    mutating func restoreLate(_ taken: Taken) {
        waiting[taken.name] = Waiting(askers: taken.askers, users: taken.users, isLate: true)
        late.restore(taken.name, of: taken.uid)
    }

    /// Moves a slice to the queue for encoding off the loop.
    mutating func postpone(_ taken: Taken) {
        waiting[taken.name] = Waiting(askers: taken.askers, users: taken.users, isLate: true)
        for uid in taken.users.sorted() { late.append(taken.name, of: uid) }
        isHeldUp = false
    }

    // MARK: Off the loop

    /// Records that a slice is being encoded off the loop.
    mutating func run(_ name: SliceName, _ state: SliceState, for askers: [Asker]) {
        precondition(running == nil, "two slices are encoded at a time")
        running = Running(name: name, state: state, askers: askers, grownBytes: grownBytes)
        invariants()
    }

    /// Records a complete encoding, unless no request waits for it.
    mutating func finish(_ encoding: SliceEncoding) {
        if running != nil { finished = encoding }
        invariants()
    }

    /// Takes a complete encoding, with its requests.
    mutating func takeFinished() -> (running: Running, encoding: SliceEncoding)? {
        guard let running, let finished else { return nil }
        self.running = nil
        self.finished = nil
        return (running, finished)
    }

    // MARK: The turn's share

    /// Begins the share of another turn.
    mutating func beginTurn() { spentBytes = 0 }

    /// Counts the bytes of an encoding that was made on the loop.
    mutating func spend(_ byteCount: Int) { spentBytes += max(byteCount, 64) }

    // MARK: What is known

    /// Counts bytes of deltas.
    mutating func grow(by byteCount: UInt64) { grownBytes &+= byteCount }

    /// Remembers the size and the checksum of an encoding.
    mutating func learn(
        _ encoding: SliceEncoding, of name: SliceName, _ state: SliceState, grownBytes: UInt64
    ) {
        if known.count >= Self.knownMax, known[name] == nil { known.removeAll() }
        known[name] = Known(
            state: state, byteCount: encoding.bytes.count, checksum: encoding.checksum,
            grownBytes: grownBytes)
        invariants()
    }

    /// The checksum of a slice that has not changed since its encoding.
    func checksum(of name: SliceName, _ node: AnyNode) -> UInt64? {
        guard let found = known[name], found.state.isCurrent(of: node) else { return nil }
        return found.checksum
    }

    /// Estimated bytes of an answer; the estimate is too high rather than too low.
    func byteEstimate(
        of name: SliceName, _ node: AnyNode, nodeCount: Int, connectionCount: Int
    ) -> Int {
        switch name.form {
        case .value: byteEstimate(of: name, node)
        // The loop visits each child, shown or not.
        case .selection: max(byteEstimate(of: name, node), 16 * node.children.count)
        case .replica where node.isCollection: 32 * node.children.count
        case .replica: byteEstimate(of: name, node)
        case .description: 1_024 + 32 * node.children.count
        case .entries: 64 * nodeCount
        case .counters: 1_024 + 16 * connectionCount
        }
    }

    /// Estimated bytes of a value or a replica, rather too many than too few.
    private func byteEstimate(of name: SliceName, _ node: AnyNode) -> Int {
        guard let found = known[name] else { return Int(clamping: grownBytes) }
        if found.state.isCurrent(of: node) { return found.byteCount }
        return found.byteCount + Int(clamping: grownBytes &- found.grownBytes)
    }
}
