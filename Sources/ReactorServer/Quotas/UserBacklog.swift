import DequeModule
import ReactorBytes

/// Counts the bytes that the input of each user adds to the journal, while clients of several users
/// are connected: the bytes that the journal does not have yet, and the bytes since the last
/// snapshot began.
///
///     guard !backlog.isFull(peer, at: now) else { return backlog.keepWaiting(connection) }
///     backlog.begin(peer)
///     … if backlog.isSpent { backlog.keepWaiting(connection) }       // between two frames
///     backlog.end(in: delivery.turn, at: now)
///     let rest = backlog.release(upTo: delivery.releasedTurn, at: now)
///     while let connection = backlog.takeReady(at: now) { … }
///
/// The outputs of a turn wait for its batch and all earlier ones. So another user's small action
/// waits for the bytes that a user has put before it, and this is their bound. After many bytes,
/// their user rests for a multiple of the time that they took, if another user writes as well. While
/// the shell holds back the users that write most, they wait until it has a snapshot.
///
/// *Place*: ``Intake`` measures what it handles. An administrator at the second socket is not
/// measured. *Shape*: shares are in the order of their turns; the waiting bytes of a user are the
/// sum of its shares. ``invariants()`` states the invariants.
final class UserBacklog {
    private let chronicle: Chronicle
    private let ownerUID: UInt32?
    /// Waiting bytes of one user above which nothing more is read from its clients.
    private var byteCountMax: Int
    /// Whether the users that write most wait.
    private var holdsHeavy = false
    /// Bytes that wait for the journal, by turn and user.
    private let shares = Cell(Deque<Share>())
    private let accounts = Cell<[UInt32: Account]>([:])
    /// The sum of ``Account/writtenByteCount``.
    private var writtenByteCount = 0
    /// The user whose input is being handled, the turn's bytes when that began, and the turn's
    /// bytes at which the user reaches its limit.
    private var running: (uid: UInt32, start: Int, end: Int)?
    /// Connections that wait until the server reads from their users again, oldest first.
    private let held = Cell<[Connection]>([])
    /// The last user that wrote, and the last other user before it.
    private var lastWriter: Writer?, formerWriter: Writer?

    // A share of fewer bytes takes hardly longer than an empty one.
    /// Bytes of one turn after which a user rests.
    private static let restByteCountMin = 32 << 10
    // With 8, a user that writes without pause delays few actions of other users.
    /// How long a user rests, as a multiple of the time that its bytes took.
    private static let restFactor: UInt64 = 8
    /// Maximum nanoseconds of a rest.
    private static let restMax: UInt64 = 1_000_000_000
    /// Nanoseconds for which a user counts as writing after its last bytes.
    private static let writingMax: UInt64 = 1_000_000_000

    /// A user, and when its last bytes came.
    private struct Writer {
        let uid: UInt32
        var time: UInt64
    }

    /// Bytes that a user's input has added to a turn.
    private struct Share {
        let turn: UInt64
        let uid: UInt32
        var byteCount: Int
        /// When the first of them came.
        let time: UInt64
    }

    /// The bytes of a user.
    private struct Account {
        /// Nothing is read from the user's clients before this time.
        var restEnd: UInt64 = 0
        /// Bytes that wait for the journal.
        var waitingByteCount = 0
        /// Bytes since the last snapshot began.
        var writtenByteCount = 0
    }

    init(_ limits: ServerLimits, _ chronicle: Chronicle, ownerUID: UInt32?) {
        byteCountMax = limits.unreleasedBytesPerUIDMax
        self.chronicle = chronicle
        self.ownerUID = ownerUID
    }

    /// Applies other limits from the next input on.
    func setLimits(_ limits: ServerLimits) { byteCountMax = limits.unreleasedBytesPerUIDMax }

    /// Bytes of a user that wait for the journal.
    func waitingByteCount(of uid: UInt32) -> Int { accounts.value[uid]?.waitingByteCount ?? 0 }

    /// Whether the user of a peer has as many bytes before the journal as it may, rests, or is held
    /// back.
    func isFull(_ peer: Peer, at now: UInt64) -> Bool {
        guard !accounts.value.isEmpty, !peer.isAdministrator(ownerUID: ownerUID),
            let account = accounts.value[peer.uid]
        else { return false }
        return account.waitingByteCount >= byteCountMax || account.restEnd > now
            || holdsHeavy && isHeavy(account)
    }

    /// Whether a user has written at least half of an equal share of all bytes.
    private func isHeavy(_ account: Account) -> Bool {
        account.writtenByteCount > 0
            && 2 * account.writtenByteCount >= writtenByteCount / accounts.value.count
    }

    // MARK: Input

    /// Whether the input in progress is measured.
    @inline(__always) var isMeasuring: Bool { running != nil }

    /// Bytes that the input in progress may add; at least 0.
    var room: Int { running.map { max(0, $0.end - chronicle.turnByteCount) } ?? .max }

    /// Whether the input in progress has brought its user to its limit.
    var isSpent: Bool { room == 0 }

    /// Begins to measure input of `peer`.
    func begin(_ peer: Peer) {
        guard !peer.isAdministrator(ownerUID: ownerUID) else { return }
        let start = chronicle.turnByteCount
        // A program may set the limit to the largest number.
        let room = min(max(0, byteCountMax - waitingByteCount(of: peer.uid)), .max - start)
        running = (peer.uid, start, start + room)
    }

    /// Ends what ``begin(_:)`` began, which belongs to this turn; does nothing if it began nothing.
    func end(in turn: UInt64, at now: UInt64) {
        guard let running else { return }
        self.running = nil
        let byteCount = chronicle.turnByteCount - running.start
        guard byteCount > 0 else { return }
        if lastWriter?.uid == running.uid {
            lastWriter?.time = now
        } else {
            (lastWriter, formerWriter) = (Writer(uid: running.uid, time: now), lastWriter)
        }
        accounts.value[running.uid, default: Account()].waitingByteCount += byteCount
        accounts.value[running.uid]?.writtenByteCount += byteCount
        writtenByteCount += byteCount
        if let last = shares.value.last, last.turn == turn, last.uid == running.uid {
            shares.value[shares.value.count - 1].byteCount += byteCount
        } else {
            shares.value.append(
                Share(turn: turn, uid: running.uid, byteCount: byteCount, time: now))
        }
        invariants()
    }

    // MARK: Waiting

    /// Keeps a connection that waits until the server reads from its user again; returns whether
    /// that is new.
    func keepWaiting(_ connection: Connection) -> Bool {
        guard !held.value.contains(where: { $0 === connection }) else { return false }
        held.value.append(connection)
        return true
    }

    /// Whether no user's bytes wait for the journal.
    @inline(__always) var isEmpty: Bool { shares.value.isEmpty }

    /// Forgets the waiting bytes of all turns up to `turn`, whose outputs may leave. Returns when the
    /// rest of a user that begins now is over; nil if none begins.
    func release(upTo turn: UInt64, at now: UInt64) -> UInt64? {
        var end: UInt64?
        while let first = shares.value.first, first.turn <= turn {
            shares.value.removeFirst()
            accounts.value[first.uid]?.waitingByteCount -= first.byteCount
            if first.byteCount >= Self.restByteCountMin, isWriting(besides: first.uid, at: now) {
                let rest = min((now &- first.time) &* Self.restFactor, Self.restMax)
                accounts.value[first.uid]?.restEnd = now &+ rest
                end = max(end ?? 0, now &+ rest)
            }
        }
        invariants()
        return end
    }

    /// Whether another user than `uid` writes as well.
    private func isWriting(besides uid: UInt32, at now: UInt64) -> Bool {
        guard let other = lastWriter?.uid == uid ? formerWriter : lastWriter else { return false }
        return now &- other.time <= Self.writingMax
    }

    /// Makes the users that write most wait until this is called with false. Returns whether that
    /// is new.
    func holdHeavy(_ holdsHeavy: Bool) -> Bool {
        defer { self.holdsHeavy = holdsHeavy }
        return holdsHeavy != self.holdsHeavy
    }

    /// Takes the oldest connection whose user need not wait. A connection that must wait again goes
    /// to the end of the queue.
    func takeReady(at now: UInt64) -> Connection? {
        guard let index = held.value.firstIndex(where: { !isFull($0.peer, at: now) }) else {
            return nil
        }
        return held.value.remove(at: index)
    }

    /// Begins to count written bytes, as a snapshot begins.
    func beginSnapshot(at now: UInt64) {
        writtenByteCount = 0
        accounts.value = accounts.value.filter {
            $0.value.waitingByteCount > 0 || $0.value.restEnd > now
        }
        for uid in accounts.value.keys { accounts.value[uid]?.writtenByteCount = 0 }
    }

    /// Checks the invariants, in debug builds.
    @inline(__always)
    private func invariants() {
        assert(
            shares.value.count > 32
                || accounts.value.values.reduce(0) { $0 + $1.waitingByteCount }
                    == shares.value.reduce(0) { $0 + $1.byteCount },
            "the waiting bytes of users are not the sum of their shares")
        assert(
            shares.value.count > 32
                || zip(shares.value, shares.value.dropFirst()).allSatisfy { $0.turn <= $1.turn },
            "shares are out of the order of their turns")
        assert(
            accounts.value.values.reduce(0) { $0 + $1.writtenByteCount } == writtenByteCount,
            "the written bytes are not the sum of those of users")
    }
}

/// The clients whose input waits while the journal grows faster than snapshots shorten it.
package enum HeldWriters: Sendable {
    /// No client.
    case none
    /// The clients of the users that write most; all clients while one user is connected.
    case heaviest
    /// All clients.
    case all
}
