import ReactorBytes
import ReactorCore
import ReactorJournal
import ReactorThreads
import ReactorWire
import TestPrograms

@testable import ReactorDaemon
@testable import ReactorServer

/// A journal that a test writes row by row, with an archive over it that records its answers.
final class ArchiveRig: Sendable {
    let home = TestDirectory()
    let directory: DataDirectory
    let archive: HistoryArchive
    /// Rung to let the query for a tree continue.
    let gate = Bell()
    private let journal: Confined<SQLiteJournal>
    private let appended = Bell()
    private let answered = Bell()
    private let answers: Guarded<[UInt64: Result<[UInt8], Refusal>]>
    private let order: Guarded<[UInt64]>
    private let lastQuestion = Guarded<UInt64>(0)

    init() throws {
        directory = try DataDirectory(at: home.path("data"))
        try SQLiteJournal.prepare(directory)
        let end = try JournalReader(directory).verifyRest()
        let journal = try SQLiteJournal(
            directory, durability: .relaxed, after: end, deliver: { job in job() })
        self.journal = Confined(journal)
        let answers = Guarded<[UInt64: Result<[UInt8], Refusal>]>([:])
        self.answers = answers
        let order = Guarded<[UInt64]>([])
        self.order = order
        archive = try HistoryArchive(
            directory, dropped: [], limits: ServerLimits(),
            roots: { [gate] in
                gate.wait()
                throw JournalError.moved(path: "nowhere")
            }, secrets: SecretTable(of: Tree(ReactorGroup([]), epoch: 7)),
            answer: { [answered] inquiry, result in
                order.withLock { $0.append(inquiry.number) }
                answers.withLock { $0[inquiry.number] = result }
                answered.ring()
            })
        journal.onAppended = { [appended] _ in appended.ring() }
    }

    /// A change of a node.
    struct Change {
        var node: UInt32
        var mutation: WireEmbedded
        var isStructural = false

        /// The creation of a child of the root.
        static func child(_ name: WireKey, _ number: UInt32) -> Change {
            let change = StructuralChange.create(key: name, number: number)
            return Change(node: 0, mutation: WireEmbedded(change), isStructural: true)
        }

        /// A change of a node's state.
        static func state(of node: UInt32) -> Change {
            Change(node: node, mutation: WireEmbedded(true))
        }
    }

    /// Appends a row with one transaction, and informs the archive.
    func append(_ sequence: UInt64, epoch: UInt64 = 7, _ change: Change) {
        journal.open().append(Self.batch(sequence, epoch, change))
        appended.wait()
        archive.appended()
    }

    /// Stores such a row as one of a log that other daemons share, and informs the archive.
    func store(_ sequence: UInt64, _ change: Change, log words: [UInt64]) throws {
        var rows = RowNumbering(after: try JournalReader(directory).verifyRest())
        journal.open().store([try rows.row(of: Self.batch(sequence, 7, change), at: 5)], log: words)
        appended.wait()
        archive.appended()
    }

    private static func batch(_ sequence: UInt64, _ epoch: UInt64, _ change: Change) -> Batch {
        var writer = WireWriter()
        let frame = writer.beginFrame(
            .delta, flags: change.isStructural ? .structural : [], id: change.node,
            number: sequence)
        Origin.daemon.encode(into: &writer)
        change.mutation.encode(into: &writer)
        writer.endFrame(at: frame)
        return Batch(
            turn: sequence, epoch: epoch, after: sequence - 1, sequence: sequence,
            deltas: ByteSlice(writer.bytes))
    }

    /// Sends a query, and returns its number.
    @discardableResult
    func ask(_ ask: Question, connection: UInt64 = 1, uid: UInt32 = 0) -> UInt64 {
        let number = lastQuestion.withLock { last in
            last += 1
            return last
        }
        archive.take(
            Inquiry(
                connection: ConnectionID(connection), peer: Peer(uid: uid, gid: uid, pid: 1),
                number: number, ask: ask))
        return number
    }

    /// Sends a query for a tree, which waits until ``gate`` is rung.
    @discardableResult
    func block() -> UInt64 { ask(.export(path: "/")) }

    /// The numbers of the answered queries, in the order of their answers.
    var answeredNumbers: [UInt64] { order.withLock { $0 } }

    /// The answer, if it has arrived.
    func found(_ number: UInt64) -> Result<[UInt8], Refusal>? {
        answers.withLock { $0[number] }
    }

    /// Waits for the answer.
    func answer(_ number: UInt64) -> Result<[UInt8], Refusal> {
        while true {
            if let answer = found(number) { return answer }
            answered.wait()
        }
    }

    /// Sends a query for a page, and waits for the answer.
    func page(_ ask: Question, connection: UInt64 = 1) throws -> LogPage {
        try LogPage(wireBytes: answer(self.ask(ask, connection: connection)).get())
    }

    /// Waits until the archive has processed all earlier orders.
    func settle() {
        // Twice: waiting queries are resumed after the queries that arrive with the news.
        for _ in 1...2 { _ = answer(ask(.log(path: "/"), connection: 99)) }
    }

    /// Joins the threads.
    func close() {
        archive.close()
        journal.open().close()
    }
}

extension LogPage {
    /// The sequences of the page's transactions.
    var sequences: [UInt64] { entries.compactMap { $0.revision?.sequence } }
}
