import GRDB
import ReactorThreads

/// Commits batches on the journal's thread, all that wait as one transaction.
///
/// *Owner*: the journal's thread, but for ``mailbox``.
final class JournalCommitter: Sendable {
    /// What the journal's thread is asked for.
    enum Order: Sendable {
        case batch(JournalBatch)
        case resume
        case stop
    }

    /// Orders, in order; any thread posts.
    let mailbox: Mailbox<Order>
    private let bell = Bell()
    private let directory: DataDirectory
    private let database: JournalDatabase
    private let tuning: JournalTuning
    private let gate: Lock
    private let upkeep: JournalUpkeep
    private let voice: JournalVoice
    private let start: JournalPosition
    private let instance: JournalInstance
    /// Whether a commit is durable when it has returned.
    private let isStrict: Bool
    // because noting it costs a page, a commit in so many rows does
    private static let notedRows: UInt64 = 256

    init(
        _ directory: DataDirectory, durability: JournalDurability,
        after position: JournalPosition, tuning: JournalTuning, gate: Lock, upkeep: JournalUpkeep,
        voice: JournalVoice
    ) throws(JournalError) {
        self.directory = directory
        self.tuning = tuning
        self.gate = gate
        self.upkeep = upkeep
        self.voice = voice
        mailbox = Mailbox { [bell] in bell.ring() }
        start = position
        isStrict = durability == .strict
        database = try JournalFile.writer(in: directory, durability: durability)
        instance = try Self.check(position, in: database)
    }

    /// Whether batches are taken, and if not why.
    private enum Mood {
        case well
        case full
        case broken
    }

    /// Runs until it is told to stop.
    func run() {
        var position = start
        var mood = Mood.well
        var orders: [Order] = []
        var isRunning = true
        while isRunning {
            bell.wait()
            mailbox.drain(into: &orders)
            var waiting: [JournalBatch] = []
            for order in orders {
                switch order {
                case .batch(let batch):
                    waiting.append(batch)
                    continue
                case .resume:
                    commit(&waiting, behind: &position, &mood)
                    if mood == .full { mood = .well }
                case .stop: isRunning = false
                }
            }
            orders.removeAll(keepingCapacity: true)
            commit(&waiting, behind: &position, &mood)
        }
        close(behind: position, mood)
    }

    // because what cannot be noted is found out by those who read
    private func close(behind position: JournalPosition, _ mood: Mood) {
        if mood == .well, directory.isInPlace {
            try? gate.withLock { () throws(JournalError) in
                try database.commit("closing") { db in
                    let meta = MetaTable(db, in: database.file)
                    guard try meta.floor(of: instance) != position.number else { return }
                    try meta.setFloor(position.number, of: instance)
                }
            }
        }
        try? database.close()
    }

    // because what is not kept is dropped, `waiting` is empty afterwards in any case
    private func commit(
        _ waiting: inout [JournalBatch], behind position: inout JournalPosition, _ mood: inout Mood
    ) {
        defer { waiting.removeAll(keepingCapacity: true) }
        guard mood == .well, let first = waiting.first?.turn, let last = waiting.last?.turn else {
            return
        }
        do throws(JournalError) {
            try tuning.faults.commit?(last)
            position = try gate.withLock { () throws(JournalError) in
                try write(waiting, behind: position)
            }
            if !isStrict, waiting.contains(where: \.isDurable) {
                try directory.synchronize(JournalFile.logName)
            }
            guard directory.isInPlace else { throw .moved(path: directory.path) }
            voice.appended(last)
            upkeep.committed(waiting.reduce(0) { $0 + $1.range.count + $1.facts.count })
        } catch {
            mood = error.isFull ? .full : .broken
            voice.failed(
                error.isFull
                    ? .full(turn: first, message: "\(error)")
                    : .broken(turn: first, message: "\(error)"),
                kept: position)
        }
    }

    private func write(
        _ batches: [JournalBatch], behind start: JournalPosition
    ) throws(JournalError) -> JournalPosition {
        let time = tuning.now()
        return try database.commit("appending to") { db in
            let table = BatchTable(db, in: database.file)
            var position = start
            for batch in batches {
                position = try table.append(batch, behind: position, at: time)
            }
            if position.number / Self.notedRows > start.number / Self.notedRows {
                try MetaTable(db, in: database.file).setFloor(position.number, of: instance)
            }
            return position
        }
    }

    // because a row that recovery has not seen, or one that is gone, would fork the history
    private static func check(
        _ position: JournalPosition, in database: JournalDatabase
    ) throws(JournalError) -> JournalInstance {
        let file = database.file
        return try database.run("opening") { db in
            let meta = MetaTable(db, in: file)
            let instance = try meta.instance()
            let anchor = try meta.anchor(of: instance)
            let last = try BatchTable(db, in: file).lastNumber() ?? anchor.number
            let end = try JournalReader.position(last, anchor: anchor, db, file)
            guard end == position else {
                throw JournalError.damage(
                    JournalDamage(
                        file: file, row: last, expected: "the journal's end at \(position)",
                        got: "\(end)"))
            }
            return instance
        }
    }
}
