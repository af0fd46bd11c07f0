import Foundation
import GRDB
import ReactorThreads
import TestPrograms

@testable import ReactorJournal

/// A data directory of one test's own, the owner's thread, and what it was told.
final class JournalRig {
    let home: TestDirectory
    let path: String
    var tuning = JournalTuning()
    private(set) var turns: [UInt64] = []
    private(set) var failures: [JournalFailure] = []
    private(set) var alarms: [JournalAlarm] = []
    private let bell = Bell()
    private let mailbox: Mailbox<@Sendable () -> Void>
    private var held: DataDirectory?

    init(in home: TestDirectory = TestDirectory(), name: String = "data") {
        self.home = home
        path = home.path(name)
        mailbox = Mailbox { [bell] in bell.ring() }
        // because a test has little to write, and the disk is everybody's
        tuning.grownByteCount = 64 << 10
    }

    /// The directory, opened when it is asked for first.
    func directory() throws -> DataDirectory {
        if let held { return held }
        let directory = try DataDirectory(at: path)
        held = directory
        return directory
    }

    /// Frees the directory for others.
    func letGo() { held = nil }

    var deliver: @Sendable (@escaping @Sendable () -> Void) -> Void {
        { [mailbox] in mailbox.post($0) }
    }

    /// Opens the journal behind what is there.
    func open(_ durability: JournalDurability = .strict) throws -> SQLiteJournal {
        let directory = try directory()
        _ = try JournalFile.prepare(in: directory, tuning: tuning)
        let end = try JournalReader(directory).verifyRest()
        let journal = try SQLiteJournal(
            directory, durability: durability, after: end, tuning: tuning, deliver: deliver)
        journal.onAppended = { [unowned self] in turns.append($0) }
        journal.onFailed = { [unowned self] in failures.append($0) }
        journal.onAlarm = { [unowned self] in alarms.append($0) }
        return journal
    }

    /// Runs what is delivered until `condition` holds.
    func run(until condition: () -> Bool) {
        while !condition() {
            bell.wait()
            for job in mailbox.drain() { job() }
        }
    }

    /// Hands over the next batch; its turn is the number of its row.
    func hand(
        _ journal: SQLiteJournal, epoch: UInt64 = 7, padding: Int = 0, isDurable: Bool = false
    ) {
        let number = journal.lastNumber + 1
        let bytes = Self.deltas(number, padding: padding)
        journal.append(
            JournalBatch(
                turn: number, epoch: epoch, after: (number - 1) * 2, sequence: number * 2,
                bytes: [0] + bytes, range: 1..<bytes.count + 1, facts: Self.facts(number),
                isDurable: isDurable))
    }

    /// Appends `count` rows, each by a commit of its own.
    func append(_ count: Int, to journal: SQLiteJournal, padding: Int = 0) {
        for _ in 0..<count {
            hand(journal, padding: padding)
            let number = journal.lastNumber
            run { turns.last == number || !failures.isEmpty }
        }
    }

    /// A directory with `count` rows, closed.
    static func closed(_ count: Int, in home: TestDirectory = TestDirectory()) throws -> JournalRig
    {
        let rig = JournalRig(in: home)
        let journal = try rig.open()
        rig.append(count, to: journal)
        journal.close()
        return rig
    }

    static func deltas(_ number: UInt64, padding: Int = 0) -> [UInt8] {
        // because what is alike is packed, and takes no room
        Array("the deltas of row \(number)".utf8) + noise(padding)
    }

    /// Bytes of which none says anything about the next; always the same.
    static func noise(_ count: Int) -> [UInt8] { Array(noise[..<count]) }

    private static let noise: [UInt8] = {
        var state: UInt64 = 1
        return (0..<1 << 21).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(state >> 56)
        }
    }()

    static func facts(_ number: UInt64) -> [UInt8] { Array("the facts of row \(number)".utf8) }

    /// Trims through the journal, and waits for it.
    func trim(
        _ journal: SQLiteJournal, behind number: UInt64,
        keeping retention: JournalRetention = .nothing
    ) -> Result<JournalTrim, JournalError>? {
        var result: Result<JournalTrim, JournalError>?
        journal.trim(behind: number, keeping: retention) { result = $0 }
        run { result != nil }
        return result
    }

    /// All rows, verified.
    func rows() throws -> [JournalRow] {
        let reader = try JournalReader(directory())
        var rows: [JournalRow] = []
        while let row = try reader.next() { rows.append(row) }
        return rows
    }

    /// What a power cut would leave of it now: the files that are not caches, elsewhere.
    func image(_ name: String) throws -> JournalRig {
        let image = JournalRig(in: home, name: name)
        _ = try image.directory()
        // because a checkpoint may be made meanwhile: what it moves is then in both, not in neither
        for file in [JournalFile.logName, JournalFile.name] {
            try image.set(file, to: bytes(of: file))
        }
        return image
    }

    /// A connection that reads, as another process's might, until it rolls back.
    func hold() throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(
            path: path + "/" + JournalFile.name, configuration: configuration)
        try other.writeWithoutTransaction { try $0.execute(sql: "BEGIN; SELECT * FROM batch") }
        return other
    }

    func bytes(of file: String) -> [UInt8] {
        [UInt8](FileManager.default.contents(atPath: path + "/" + file) ?? Data())
    }

    func set(_ file: String, to bytes: [UInt8]) throws {
        try Data(bytes).write(to: URL(filePath: path + "/" + file))
    }

    /// Flips a bit of the first byte of `text` in `file`.
    func flip(_ text: String, in file: String = JournalFile.name) throws {
        var all = bytes(of: file)
        guard let range = all.firstRange(of: Array(text.utf8)) else {
            preconditionFailure("\(text) is not in \(file)")
        }
        all[range.lowerBound] ^= 4
        try set(file, to: all)
    }

    /// Removes what SQLite keeps beside the file.
    func forgetCaches() throws {
        for suffix in ["-wal", "-shm"] { try directory().remove(JournalFile.name + suffix) }
    }
}

extension JournalError {
    /// The damage, if it is any.
    var damage: JournalDamage? {
        guard case .damage(let damage) = self else { return nil }
        return damage
    }
}

/// The error that `body` throws; nil if it does not.
func failure(_ body: () throws -> Void) -> JournalError? {
    do { try body() } catch { return error as? JournalError }
    return nil
}
