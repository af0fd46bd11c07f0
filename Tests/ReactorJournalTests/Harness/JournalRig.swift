import Foundation
import ReactorBytes
import ReactorThreads
import TestPrograms

@testable import ReactorJournal

/// A data directory for one test, the owner's thread, and the reports that the owner received.
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
        // A test writes little, and all tests share the disk.
        tuning.grownByteCount = 64 << 10
    }

    /// The directory, opened at the first call.
    func directory() throws -> DataDirectory {
        if let held { return held }
        let directory = try DataDirectory(at: path)
        held = directory
        return directory
    }

    /// Releases the directory, so that others can open it.
    func release() { held = nil }

    var deliver: @Sendable (@escaping @Sendable () -> Void) -> Void {
        { [mailbox] in mailbox.post($0) }
    }

    /// Opens the journal after its last row.
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

    /// Runs delivered closures until `condition` is true.
    func run(until condition: () -> Bool) {
        while !condition() {
            bell.wait()
            for job in mailbox.drain() { job() }
        }
    }

    /// Appends the next batch; its turn is the number of its row.
    func appendNext(
        _ journal: SQLiteJournal, epoch: UInt64 = 7, padding: Int = 0, isDurable: Bool = false
    ) {
        let number = journal.lastNumber + 1
        let bytes = Self.deltas(number, padding: padding)
        journal.append(
            Batch(
                turn: number, epoch: epoch, after: (number - 1) * 2, sequence: number * 2,
                deltas: ByteSlice([0] + bytes, range: 1..<bytes.count + 1),
                facts: Self.facts(number),
                isDurable: isDurable))
    }

    /// Appends `count` rows, each in its own commit.
    func append(_ count: Int, to journal: SQLiteJournal, padding: Int = 0) {
        for _ in 0..<count {
            appendNext(journal, padding: padding)
            let number = journal.lastNumber
            run { turns.last == number || !failures.isEmpty }
        }
    }

    /// Creates a directory with `count` rows and closes it.
    static func closed(_ count: Int, in home: TestDirectory = TestDirectory()) throws -> JournalRig
    {
        let rig = JournalRig(in: home)
        let journal = try rig.open()
        rig.append(count, to: journal)
        journal.close()
        return rig
    }

    static func deltas(_ number: UInt64, padding: Int = 0) -> [UInt8] {
        // Repetitive bytes would be compressed and take no space.
        Array("the deltas of row \(number)".utf8) + noise(padding)
    }

    /// Bytes that cannot be compressed; always the same.
    static func noise(_ count: Int) -> [UInt8] { Array(noise[..<count]) }

    private static let noise: [UInt8] = {
        var state: UInt64 = 1
        return (0..<1 << 21).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(state >> 56)
        }
    }()

    static func facts(_ number: UInt64) -> [UInt8] { Array("the facts of row \(number)".utf8) }

    /// Trims through the journal and waits for the result.
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

    /// Copies the files that a power cut would leave now, without caches, into another directory.
    func image(_ name: String) throws -> JournalRig {
        let image = JournalRig(in: home, name: name)
        _ = try image.directory()
        // A checkpoint may run during the copy: in this order, frames that it moves are in both
        // files, not in neither.
        for file in [JournalFile.logName, JournalFile.name] {
            try image.set(file, to: bytes(of: file))
        }
        return image
    }

    /// A connection like another process's, which waits for no lock.
    func other() throws -> SQLiteConnection {
        try SQLiteConnection(path + "/" + JournalFile.name)
    }

    /// A connection with an open read transaction, like another process's.
    func hold() throws -> SQLiteConnection {
        let other = try other()
        try other.execute("BEGIN; SELECT * FROM batch")
        return other
    }

    /// Changes the file's content as the journal never would.
    func alter(_ sql: String) throws {
        try other().execute("BEGIN IMMEDIATE; \(sql); COMMIT")
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

    /// Removes SQLite's auxiliary files.
    func forgetCaches() throws {
        for suffix in ["-wal", "-shm"] { try directory().remove(JournalFile.name + suffix) }
    }
}

extension JournalError {
    /// The damage; nil for another error.
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
