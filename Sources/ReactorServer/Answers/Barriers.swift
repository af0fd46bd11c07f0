import ReactorCore
import ReactorWire

/// Questions that wait for a state of the tree: one revision at least, or the state of the whole
/// cluster. They are barriers: what a client asks after the answer is answered from that state, or a
/// later one.
///
/// *Place*: ``AnswerService`` passes it the questions, and the end of each turn answers those whose
/// state is there. *Invariant*: each waiting question is counted at its connection, which is open.
///
/// The `sync` of ZooKeeper is the model.
final class Barriers {
    private let tree: Tree
    private let orders: ShellOrders
    private let delivery: Delivery
    private var waiting: [Barrier] = []
    /// Whether other daemons may decide on actions.
    private var isShared = false
    /// The state includes every row that the log had at this time; 0 if that is not known.
    private var asOf: UInt64 = 0
    /// The same, confirmed by a majority of the log's members.
    private var confirmed: UInt64 = 0
    /// When the shell calls ``expire()`` next; nil if no call is planned.
    private var wakesAt: UInt64?

    /// Nanoseconds: deadlines within the span are met within a step.
    private static let (wakeSpanMax, wakeStep): (UInt64, UInt64) = (2_000_000_000, 50_000_000)
    /// Maximum number of such questions that wait on one connection.
    static let perConnectionMax = 64

    private struct Barrier {
        let connection: Connection
        /// The number of the request.
        let number: UInt64
        let sequence: UInt64
        /// The time as of which the state must be the cluster's; nil if any state will do.
        let askedAt: UInt64?
        let deadline: UInt64
        let milliseconds: UInt32
    }

    init(_ tree: Tree, _ orders: ShellOrders, _ delivery: Delivery) {
        self.tree = tree
        self.orders = orders
        self.delivery = delivery
    }

    /// The state is the cluster's only as far as ``confirm(asOf:confirmed:)`` says from here on.
    func share() { isShared = true }

    /// Whether the end of a turn answers a question.
    var isDue: Bool { !waiting.isEmpty && waiting.contains { isMet($0) } }

    // MARK: Questions

    /// Has a client wait for the state that a question of the kind `sync` names.
    func ask(_ ask: Question, _ header: FrameHeader, of connection: Connection) {
        guard case .sync(let revision, let isCurrent, let milliseconds) = ask else {
            preconditionFailure("not a barrier: \(ask)")
        }
        let barrier = Barrier(
            connection: connection, number: header.number, sequence: revision?.sequence ?? 0,
            askedAt: isCurrent && isShared ? orders.now : nil,
            deadline: orders.now + UInt64(milliseconds) * 1_000_000, milliseconds: milliseconds)
        do throws(Refusal) {
            try admit(revision, connection)
        } catch {
            return delivery.refuse(header, error, of: connection)
        }
        connection.requests.beginBarrier()
        waiting.append(barrier)
        guard !isMet(barrier) else { return }
        if barrier.askedAt != nil { orders.append(.confirm) }
        planWake(at: barrier.deadline)
    }

    /// Has the shell call ``expire()`` soon after `deadline`. A deadline that is far away is left to the
    /// ticks: each order is a timer of the shell.
    private func planWake(at deadline: UInt64) {
        guard deadline < orders.now + Self.wakeSpanMax else { return }
        let time = (deadline / Self.wakeStep + 1) * Self.wakeStep
        guard time < wakesAt ?? .max else { return }
        wakesAt = time
        orders.append(.wake(at: time))
    }

    private func admit(_ revision: Revision?, _ connection: Connection) throws(Refusal) {
        let epoch = tree.turn.epoch
        if let revision, revision.epoch != epoch {
            throw Refusal(
                .conflict,
                "\(revision) is a revision of another history: this daemon is at "
                    + "\(Revision(epoch: epoch, sequence: tree.turn.sequence))")
        }
        guard connection.requests.barrierCount < Self.perConnectionMax else {
            throw Refusal(
                .quota, "\(Self.perConnectionMax) questions of this connection wait for a revision")
        }
    }

    /// The state includes every row that the log had at `asOf`; that of `confirmed` answers questions.
    func confirm(asOf: UInt64, confirmed: UInt64) {
        self.asOf = max(self.asOf, asOf)
        self.confirmed = max(self.confirmed, confirmed)
    }

    /// Forgets the questions of a connection that has ended.
    func leave(_ connection: Connection) {
        guard connection.requests.barrierCount > 0 else { return }
        removeAll { $0.connection === connection }
    }

    // MARK: Answers

    /// Answers the questions whose state is there, as part of the turn that ends.
    func answerDue() {
        guard !waiting.isEmpty else { return }
        let revision = Revision(epoch: tree.turn.epoch, sequence: tree.turn.sequence)
        let answer = Synced(revision: revision, age: age).wireBytes()
        for barrier in removeAll(where: isMet) {
            delivery.reply(to: barrier.connection) { writer in
                writer.parts(.answer, number: barrier.number, body: answer.span)
            }
            delivery.list(barrier.connection)
        }
    }

    /// Refuses the questions that have waited for too long.
    func expire() {
        let now = orders.now
        if wakesAt ?? .max <= now { wakesAt = nil }
        guard !waiting.isEmpty else { return }
        for barrier in removeAll(where: { $0.deadline <= now }) {
            let missing =
                tree.turn.sequence < barrier.sequence
                ? "the daemon is at sequence \(tree.turn.sequence), and not at \(barrier.sequence)"
                : "the log has not confirmed the daemon's state"
            refuse(
                barrier, Refusal(.deadline, "after \(barrier.milliseconds) ms, \(missing)"))
        }
        if let next = waiting.map(\.deadline).min() { planWake(at: next) }
    }

    /// Refuses all questions: the daemon ends.
    func refuseAll() {
        for barrier in removeAll(where: { _ in true }) {
            refuse(barrier, Refusal(.busy, "the daemon is ending: ask again"))
        }
    }

    private func isMet(_ barrier: Barrier) -> Bool {
        tree.turn.sequence >= barrier.sequence && barrier.askedAt.map { confirmed >= $0 } ?? true
    }

    /// Milliseconds, rounded up.
    private var age: UInt64? {
        guard isShared else { return 0 }
        return asOf == 0 ? nil : (orders.now - min(asOf, orders.now) + 999_999) / 1_000_000
    }

    private func refuse(_ barrier: Barrier, _ refusal: Refusal) {
        let header = FrameHeader(kind: .ask, number: barrier.number)
        delivery.refuse(header, refusal, of: barrier.connection)
        delivery.list(barrier.connection)
    }

    /// Removes questions, and returns them in their order, without those of closing connections.
    @discardableResult
    private func removeAll(where isEnded: (Barrier) -> Bool) -> [Barrier] {
        let ended = waiting.filter(isEnded)
        guard !ended.isEmpty else { return [] }
        waiting.removeAll(where: isEnded)
        for barrier in ended { barrier.connection.requests.endBarrier() }
        return ended.filter(\.connection.isOpen)
    }
}
