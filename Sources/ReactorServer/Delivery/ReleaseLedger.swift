import DequeModule
import ReactorBytes
import ReactorCore

/// Turns by number: the current one, and those whose outputs wait for the journal.
///
///     ledger.list(connection)                 // the current turn has something for it
///     let listed = ledger.takeListed()        // nothing more is listed in this turn
///     ledger.seal(listed, effects, batchByteCount: 120)
///     ledger.markAppended(upTo: 1)
///     while let turn = ledger.popReleased() { … }
///
/// The output of a turn leaves once the journal has its batch and all earlier ones. If too many
/// bytes wait for the journal, the server is congested: it reads from no client that sends actions
/// until the journal has caught up with half of them.
///
/// *Place*: the server's end of turn fills it, and empties it. *Shape*: turns are numbered from 1
/// without a gap. ``invariants()`` states the invariants.
struct ReleaseLedger: ~Copyable {
    /// Number of the current turn.
    private(set) var turn: UInt64 = 1
    /// The last turn whose batch the journal was given.
    private(set) var lastKeptTurn: UInt64 = 0
    /// The last turn whose output may leave.
    private(set) var releasedTurn: UInt64 = 0
    /// Bytes of batches that the journal was given and has not appended.
    private(set) var byteCount = 0
    /// Limit of ``byteCount``, above which the server is congested.
    private(set) var byteCountMax: Int
    /// Whether the server reads from no client that sends actions.
    private(set) var isCongested = false
    /// Whether the shell holds clients back, whatever the number of waiting bytes.
    private var isHeldBack = false
    /// Turns whose output has not left, oldest first.
    private var sealed = UniqueDeque<SealedTurn>()
    /// Connections with output in the current turn.
    private(set) var listed = ReferenceList<Connection>()
    /// An empty list whose memory the next turn uses.
    private var spare = ReferenceList<Connection>()

    /// A turn that has ended and whose output has not left.
    struct SealedTurn: ~Copyable {
        let number: UInt64
        /// Connections with output in the turn.
        fileprivate(set) var connections: ReferenceList<Connection>
        /// Effects that begin when its output leaves.
        let effects: [PendingEffect]
        /// Bytes of its batch; 0 if it has none.
        fileprivate let byteCount: Int
        fileprivate var isAppended: Bool
    }

    /// Starts with turn 1.
    init(byteCountMax: Int) { self.byteCountMax = byteCountMax }

    /// Changes the limit of ``byteCount``.
    mutating func limit(byteCountMax: Int) {
        self.byteCountMax = byteCountMax
        if byteCount > byteCountMax { isCongested = true }
        invariants()
    }

    /// Whether no turn waits for the journal.
    var isEmpty: Bool { sealed.isEmpty }

    /// Lists a connection with output in the current turn, once.
    mutating func list(_ connection: Connection) {
        if connection.outlet.value.list(in: turn) { listed.append(connection) }
    }

    /// Whether the current turn has output for a connection.
    func isListed(_ connection: Connection) -> Bool { connection.outlet.value.isListed(in: turn) }

    /// Takes the connections with output in the current turn, which ``seal(_:_:batchByteCount:)``
    /// gets back.
    mutating func takeListed() -> ReferenceList<Connection> {
        var taken = ReferenceList<Connection>()
        swap(&taken, &spare)
        swap(&taken, &listed)
        return taken
    }

    /// Ends the current turn, in which `connections` have output, and begins the next.
    /// `batchByteCount` is nil for a turn without a batch, which waits only for earlier turns.
    mutating func seal(
        _ connections: consuming ReferenceList<Connection>, _ effects: [PendingEffect],
        batchByteCount: Int?
    ) {
        precondition(listed.isEmpty, "a connection was listed at the end of turn \(turn)")
        sealed.append(
            SealedTurn(
                number: turn, connections: connections, effects: effects,
                byteCount: batchByteCount ?? 0, isAppended: batchByteCount == nil))
        if let batchByteCount {
            lastKeptTurn = turn
            byteCount += batchByteCount
            if byteCount > byteCountMax { isCongested = true }
        }
        turn += 1
        invariants()
    }

    /// Records that the journal has the batches of all turns up to `number`. Ignores a turn that
    /// was released before, or has not ended.
    mutating func markAppended(upTo number: UInt64) {
        guard !sealed.isEmpty, number >= sealed[0].number else { return }
        let index = Int(clamping: number - sealed[0].number)
        guard index < sealed.count else { return }
        for earlier in 0...index { sealed[earlier].isAppended = true }
    }

    /// Takes the oldest turn whose output may leave.
    mutating func popReleased() -> SealedTurn? {
        guard !sealed.isEmpty, sealed[0].isAppended else { return nil }
        let first = sealed.removeFirst()
        releasedTurn = first.number
        byteCount -= first.byteCount
        invariants()
        return first
    }

    /// Keeps the memory of a released turn's list for a later turn.
    mutating func recycle(_ turn: consuming SealedTurn) {
        guard !spare.hasCapacity else { return }
        turn.connections.removeAll()
        spare = turn.connections
    }

    // MARK: Congestion

    /// Makes the server read from no client that sends actions, until this is called with false.
    /// Returns whether that is new.
    mutating func holdBack(_ isHeldBack: Bool) -> Bool {
        guard isHeldBack != self.isHeldBack else { return false }
        self.isHeldBack = isHeldBack
        if isHeldBack { isCongested = true }
        invariants()
        return true
    }

    /// Ends the congestion once the journal has caught up. Returns whether it did: the server may
    /// read from all clients again.
    mutating func endCongestion() -> Bool {
        guard isCongested, !isHeldBack, byteCount <= byteCountMax / 2 else { return false }
        isCongested = false
        return true
    }

    /// Checks the invariants, in debug builds.
    @inline(__always)
    private func invariants() {
        assert(
            (sealed.isEmpty ? turn : sealed[0].number) == releasedTurn + 1,
            "the turn behind turn \(releasedTurn), which was released, is missing")
        assert(
            sealed.isEmpty || sealed[sealed.count - 1].number + 1 == turn,
            "turn \(turn) has a gap before it")
        assert(
            sealed.count > 32
                || byteCount == sealed.indices.reduce(0) { $0 + sealed[$1].byteCount })
        assert(!isHeldBack || isCongested, "the shell has clients wait, and they do not")
        assert(byteCount <= byteCountMax || isCongested, "\(byteCount) bytes wait, and no client")
        assert(lastKeptTurn < turn, "turn \(lastKeptTurn) has a batch before its end")
    }
}
