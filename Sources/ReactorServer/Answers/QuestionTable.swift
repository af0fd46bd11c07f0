import ReactorCore
import ReactorWire

/// What a question is about: all spellings of one path name one slice.
struct SliceName: Hashable {
    var form: Form
    var path: SlicePath

    /// What of the path is encoded.
    enum Form: Hashable {
        /// The composed value.
        case value
        /// What a replica starts from.
        case replica
        /// The node's types.
        case description
        /// The list of all nodes.
        case entries
        /// The server's counters.
        case counters
    }
}

/// Which state of a node an encoding is of.
struct SliceState: Equatable {
    /// The node's number.
    private var number: UInt32
    private var birthSequence: UInt64
    /// The tree's sequence when the state was looked at.
    let sequence: UInt64

    init(of node: AnyNode, at sequence: UInt64) {
        number = node.number
        birthSequence = node.birthSequence
        self.sequence = sequence
    }

    /// Whether `node`, which stands at the path now, is the same and has not changed since.
    func isCurrent(of node: AnyNode) -> Bool {
        node.number == number && node.birthSequence == birthSequence && node.sequence <= sequence
    }
}

/// A connection that waits for an encoding.
struct Asker {
    let connection: Connection
    /// The request that is answered.
    let number: UInt64
    let purpose: Purpose
    /// The tree's sequence when it asked: no answer is of an earlier revision.
    let sequence: UInt64

    /// What is made of the encoding.
    enum Purpose {
        /// The answer is the encoding.
        case whole
        /// The answer is a revision, whether something is there, and the encoding.
        case value
        /// The answer is a ``SliceChecksum``.
        case checksum
    }

    /// Whether the answer still has somewhere to go.
    var isWaiting: Bool {
        !connection.isClosed && connection.requests.contains(number)
    }
}

/// Questions that wait, and what is known of the slices that were asked for.
///
/// *Place*: ``AnswerService`` takes them out at the end of a turn. Users take turns. What is
/// small is encoded within the turn's share, what is large one after another off the loop.
struct QuestionTable {
    /// An encoding that is made off the loop.
    struct Running {
        let name: SliceName
        let state: SliceState
        var askers: [Asker]
        /// Bytes of deltas up to the captured state: see ``QuestionTable/grownBytes``.
        let grownBytes: UInt64
    }

    /// What is known of a slice that was encoded before.
    private struct Known {
        var state: SliceState
        var byteCount: Int
        var checksum: UInt64
        var grownBytes: UInt64
    }

    private struct Waiting {
        var askers: [Asker] = []
        /// Users in whose queues the slice stands.
        var users: Set<UInt32> = []
        /// Whether these are the queues of what is encoded off the loop.
        var isLate = false
    }

    /// A slice that was taken out of a queue, with all that wait for it.
    struct Taken {
        let name: SliceName
        let askers: [Asker]
        /// Whose turn it was.
        fileprivate let uid: UInt32
        fileprivate let users: Set<UInt32>
    }

    private var waiting: [SliceName: Waiting] = [:]
    private var soon = RoundRobin<UInt32, SliceName>()
    private var late = RoundRobin<UInt32, SliceName>()
    private var known: [SliceName: Known] = [:]
    /// Bytes of the turn's share that were spent.
    private(set) var spentBytes = 0
    /// What is being encoded off the loop.
    var running: Running?
    /// The encoding, once it is there.
    var finished: SliceEncoding?
    /// Bytes of the deltas of all turns: no slice has grown by much more. Of a tree that was recovered,
    /// of which nothing is known, more than any slice has.
    var grownBytes: UInt64 = 0

    /// Most slices that are known; they are forgotten together.
    private static let knownMax = 1_024
    /// ``grownBytes`` of a tree of unknown size.
    static let unknownBytes: UInt64 = 1 << 50

    /// Whether a question waits or is worked on.
    var isActive: Bool { !waiting.isEmpty || running != nil }

    /// Whether questions wait for the share of a turn.
    var hasSoon: Bool { !soon.isEmpty }

    /// Whether questions wait to be worked on off the loop.
    var hasLate: Bool { !late.isEmpty }

    /// Lets a question wait for the end of the turn; `node` is what stands at its path.
    mutating func add(_ asker: Asker, for name: SliceName, of node: AnyNode) {
        // A checksum is announced with the turn's mark, so it joins at the end of the turn.
        if asker.purpose != .checksum, isRunning(name, of: node) {
            running?.askers.append(asker)
            return
        }
        let uid = asker.connection.peer.uid
        waiting[name, default: Waiting()].askers.append(asker)
        guard waiting[name]?.users.insert(uid).inserted ?? false else { return }
        if waiting[name]?.isLate ?? false {
            late.append(name, of: uid)
        } else {
            soon.append(name, of: uid)
        }
    }

    /// Adds questions to the encoding in progress, if that is of their slice's current state.
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

    /// Takes the next slice that may fit the turn's share.
    mutating func popSoon() -> Taken? {
        while let (uid, name) = soon.popFirst() {
            if let taken = take(name, uid, isLate: false) { return taken }
        }
        return nil
    }

    /// Takes the next slice that is to be encoded off the loop.
    mutating func popLate() -> Taken? {
        while let (uid, name) = late.popFirst() {
            if let taken = take(name, uid, isLate: true) { return taken }
        }
        return nil
    }

    private mutating func take(_ name: SliceName, _ uid: UInt32, isLate: Bool) -> Taken? {
        // because what another user's turn took out stands in the queue still
        guard let entry = waiting[name], entry.isLate == isLate else { return nil }
        waiting[name] = nil
        let askers = entry.askers.filter(\.isWaiting)
        guard !askers.isEmpty else { return nil }
        return Taken(name: name, askers: askers, uid: uid, users: entry.users)
    }

    /// Lets a slice wait for the next turn, as the first.
    mutating func restoreSoon(_ taken: Taken) {
        waiting[taken.name] = Waiting(askers: taken.askers, users: taken.users)
        soon.restore(taken.name, of: taken.uid)
    }

    /// Lets a slice wait until there is room for its answer, as the first.
    mutating func restoreLate(_ taken: Taken) {
        waiting[taken.name] = Waiting(askers: taken.askers, users: taken.users, isLate: true)
        late.restore(taken.name, of: taken.uid)
    }

    /// Lets a slice wait until it can be encoded off the loop.
    mutating func postpone(_ taken: Taken) {
        waiting[taken.name] = Waiting(askers: taken.askers, users: taken.users, isLate: true)
        for uid in taken.users.sorted() { late.append(taken.name, of: uid) }
    }

    // MARK: The turn's share

    /// Begins another share.
    mutating func beginTurn() { spentBytes = 0 }

    /// Counts the bytes of an encoding that was made on the loop.
    mutating func spend(_ byteCount: Int) { spentBytes += max(byteCount, 64) }

    // MARK: What is known

    /// Takes note of an encoding of a slice.
    mutating func learn(
        _ encoding: SliceEncoding, of name: SliceName, _ state: SliceState, grownBytes: UInt64
    ) {
        if known.count >= Self.knownMax, known[name] == nil { known.removeAll() }
        known[name] = Known(
            state: state, byteCount: encoding.bytes.count, checksum: encoding.checksum,
            grownBytes: grownBytes)
    }

    /// The checksum of a slice that has not changed since it was encoded.
    func checksum(of name: SliceName, _ node: AnyNode) -> UInt64? {
        guard let found = known[name], found.state.isCurrent(of: node) else { return nil }
        return found.checksum
    }

    /// About how many bytes a value or a replica has; too many rather than too few.
    func byteEstimate(of name: SliceName, _ node: AnyNode) -> Int {
        guard let found = known[name] else { return Int(clamping: grownBytes) }
        if found.state.isCurrent(of: node) { return found.byteCount }
        return found.byteCount + Int(clamping: grownBytes &- found.grownBytes)
    }
}
