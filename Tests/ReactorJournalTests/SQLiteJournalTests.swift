import Foundation
import ReactorBytes
import ReactorThreads
import TestPrograms
import Testing

@testable import ReactorJournal

/// Drives ``JournalCommitter`` and ``JournalDatabase``.
@Suite("The journal on disk")
struct SQLiteJournalTests {
    private static let broken = JournalError.database(
        DatabaseFailure(
            file: "f", purpose: "appending to", code: 1_034, systemCode: 5, message: "m"))
    private static let full = JournalError.database(
        DatabaseFailure(file: "f", purpose: "appending to", code: 13, systemCode: 0, message: "m"))

    @Test(
        "J48: acknowledged batches survive kill -9, complete and in order",
        arguments: ["strict", "relaxed"])
    func killed(durability: String) async throws {
        let home = TestDirectory()
        var random = SystemRandomNumberGenerator()
        var end: UInt64 = 0
        for round in 1...6 {
            let target = end + UInt64.random(in: 1...200, using: &random)
            let writer = try ChildProcess(
                Built.product("journal-writer"),
                [home.path("data"), durability, "1000000", "9000", "0", "\(target)"],
                in: home, name: "ledger-\(round)")
            #expect(await writer.ended() == .killed(signal: SIGKILL))
            let acknowledged = writer.output.split(separator: "\n").compactMap { UInt64($0) }
            let rig = JournalRig(in: home)
            _ = try JournalFile.prepare(in: rig.directory(), tuning: rig.tuning)
            let rows = try rig.rows()
            #expect(rows.map(\.number) == Array(1...UInt64(rows.count)))
            #expect(rows.map(\.sequence) == rows.map(\.number), "an action is there twice")
            #expect(rows.allSatisfy { $0.facts == Array("\($0.number)".utf8) })
            #expect(rows.allSatisfy { $0.deltas.count == Int($0.number - 1) % 9_001 })
            let last = try #require(acknowledged.last)
            #expect(UInt64(rows.count) >= last, "round \(round) lost what it had said")
            end = UInt64(rows.count)
        }
    }

    @Test(
        "J58: a file size limit counts as a full disk: acknowledged batches are stored, others are not reported"
    )
    func limited() async throws {
        let home = TestDirectory()
        let writer = try ChildProcess(
            Built.product("journal-writer"),
            [home.path("data"), "relaxed", "1000000", "9000", "2000000"], in: home, name: "ledger")
        #expect(await writer.ended() == .exited(28))
        let acknowledged = writer.output.split(separator: "\n").compactMap { UInt64($0) }
        let rig = JournalRig(in: home)
        let journal = try rig.open()
        #expect(try rig.rows().last?.number == acknowledged.last)
        rig.appendNext(journal, epoch: 8)
        rig.run { rig.turns.last == journal.lastNumber }
        #expect(try rig.rows().last?.number == journal.lastNumber)
        journal.close()
    }

    @Test("a batch after the close is dropped, and does not reach the closed file")
    func closed() throws {
        let rig = JournalRig()
        let journal = try rig.open(.relaxed)
        rig.append(1, to: journal)
        journal.close()
        rig.appendNext(journal)
        #expect(rig.turns == [1] && rig.failures.isEmpty)
        #expect(try rig.rows().map(\.number) == [1])
    }

    @Test("J62: batches that arrive during a slow commit are committed together by the next")
    func gathers() throws {
        let rig = JournalRig()
        let (began, goOn) = (Bell(), Bell())
        rig.tuning.faults.commit = { turn throws(JournalError) in
            guard turn == 1 else { return }
            began.ring()
            goOn.wait()
        }
        let journal = try rig.open()
        rig.appendNext(journal)
        began.wait()
        for _ in 2...50 { rig.appendNext(journal) }
        #expect(rig.turns.isEmpty)
        goOn.ring()
        rig.run { rig.turns.last == 50 }
        #expect(rig.turns == [1, 50])
        journal.close()
        #expect(try rig.rows().count == 50)
    }

    @Test(
        "J59: a file size limit delays checkpoints, and the log takes rows until it is full")
    func limitedFile() async throws {
        let home = TestDirectory()
        let writer = try ChildProcess(
            Built.product("journal-writer"),
            [home.path("data"), "relaxed", "1000000", "9000", "17000000"], in: home,
            name: "ledger")
        #expect(await writer.ended() == .exited(28), "\(writer.errors)")
        let acknowledged = writer.output.split(separator: "\n").compactMap { UInt64($0) }
        let rig = JournalRig(in: home)
        _ = try JournalFile.prepare(in: rig.directory(), tuning: rig.tuning)
        #expect(try rig.rows().last?.number == acknowledged.last)
    }

    /// Whether the test may mount its own file system.
    static let mayMount: Bool = {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["unshare", "-m", "sh", "-c", "mount -t tmpfs none /mnt"]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()

    @Test(
        "J58, J63: after a full disk all acknowledged batches are there, and the journal continues",
        .enabled(if: mayMount), arguments: [20, 24])
    func realFullDisk(megabytes: Int) async throws {
        let home = TestDirectory()
        let script = """
            mkdir "$1/disk" && mount -t tmpfs -o size=\(megabytes)m none "$1/disk" || exit 99
            d="$1/disk/data"
            "$2" "$d" strict 1000000 9000 >"$1/ledger"; echo "filled $?"
            grep -E '^[0-9]+$' "$1/ledger" | tail -n 1
            "$2" "$d" strict 0 0; echo "started $?"
            mount -o remount,size=64m "$1/disk"
            "$2" "$d" strict 100000 100; echo "went on $?"
            """
        let shell = try ChildProcess(
            "/usr/bin/env",
            [
                "unshare", "-m", "sh", "-c", script, "sh", home.path,
                Built.product("journal-writer"),
            ],
            in: home, name: "shell")
        _ = await shell.ended()
        let lines = shell.output.split(separator: "\n").filter { UInt64($0) == nil }
        let told = home.read("ledger").split(separator: "\n").compactMap { UInt64($0) }.last ?? 0
        #expect(lines.first == "filled 28", "\(home.read("ledger").suffix(400))")
        #expect(lines.dropFirst().first == "behind \(told)")
        #expect(lines.contains("started 0") && lines.last == "went on 0", "\(shell.errors)")
        #expect(told > 2_000)
    }

    @Test("a program that reads the file removes neither the locks nor the log")
    func lookedAt() async throws {
        let rig = JournalRig()
        let journal = try rig.open()
        rig.append(3, to: journal)
        // Readers of this process could release the journal's locks.
        #expect(try rig.rows().count == 3)
        let log = try rig.directory().identity(of: JournalFile.logName)
        let script = """
            import sqlite3, sys
            other = sqlite3.connect(sys.argv[1])
            print(other.execute("SELECT count(*) FROM batch").fetchone()[0])
            other.close()
            """
        let looker = try ChildProcess(
            "/usr/bin/env", ["python3", "-c", script, rig.path + "/journal.sqlite"], in: rig.home,
            name: "looker")
        #expect(await looker.ended() == .exited(0), "\(looker.errors)")
        #expect(looker.output == "3\n")
        #expect(try rig.directory().identity(of: JournalFile.logName) == log)
        rig.append(2, to: journal)
        journal.close()
        #expect(rig.failures.isEmpty)
        #expect(try rig.rows().count == 5)
    }

    @Test("the calling thread commits a batch only if that does not wait")
    func atOnce() throws {
        let rig = JournalRig()
        rig.tuning.atOnceByteCount = 1_000
        let journal = try rig.open(.relaxed)
        for number in 1...3 as ClosedRange<UInt64> {
            rig.appendNext(journal)
            #expect(rig.turns.last == number)
        }
        rig.appendNext(journal, padding: 1_000)
        rig.appendNext(journal)
        // Later batches are not reported before.
        #expect(rig.turns.last == 3)
        rig.run { rig.turns.last == 5 }
        let other = try rig.other()
        try other.execute("BEGIN IMMEDIATE")
        rig.appendNext(journal)
        #expect(rig.turns.last == 5)
        try other.execute("ROLLBACK")
        rig.run { rig.turns.last == 6 }
        rig.appendNext(journal)
        // The thread that reported the batch before may still be busy.
        rig.run { rig.turns.last == 7 }
        #expect(rig.turns == rig.turns.sorted())
        try other.close()
        journal.close()
        #expect(try rig.rows().map(\.number) == Array(1...7))
    }

    @Test("a lock of another process is waited for, reported once, and loses no batch")
    func locked() throws {
        let rig = JournalRig()
        rig.tuning.lockedMilliseconds = 5
        let journal = try rig.open()
        rig.append(2, to: journal)
        let other = try rig.other()
        try other.execute("BEGIN IMMEDIATE")
        rig.appendNext(journal)
        rig.run { !rig.alarms.isEmpty }
        rig.appendNext(journal)
        try other.execute("ROLLBACK")
        rig.run { rig.turns.last == 4 }
        journal.close()
        #expect(rig.alarms == [.isLocked(file: rig.path + "/journal.sqlite")])
        #expect(try rig.rows().count == 4 && rig.failures.isEmpty)
    }

    @Test("a lock of another process does not prevent the journal from closing")
    func lockedAtEnd() throws {
        let rig = JournalRig()
        rig.tuning.lockedMilliseconds = 5
        let journal = try rig.open()
        rig.append(2, to: journal)
        let other = try rig.other()
        try other.execute("BEGIN IMMEDIATE")
        rig.appendNext(journal)
        rig.run { !rig.alarms.isEmpty }
        journal.close()
        try other.execute("ROLLBACK")
        rig.run { !rig.failures.isEmpty }
        #expect(rig.turns == [1, 2] && rig.failures.count == 1)
    }

    @Test("J58: batches passed while the disk is full are not part of the history")
    func between() throws {
        let rig = JournalRig()
        let isFull = Guarded(true)
        rig.tuning.faults.commit = { turn throws(JournalError) in
            if turn == 3, isFull.withLock({ $0 }) { throw Self.full }
        }
        let journal = try rig.open()
        journal.resume()
        rig.append(3, to: journal)
        for sequence in 4...6 as ClosedRange<UInt64> {
            journal.append(
                Batch(
                    turn: sequence, epoch: 7, after: sequence * 2, sequence: sequence * 2 + 2))
        }
        #expect(journal.lastNumber == 2)
        isFull.withLock { $0 = false }
        journal.resume()
        rig.append(2, to: journal)
        journal.close()
        #expect(try rig.rows().map(\.sequence) == [2, 4, 6, 8] && rig.failures.count == 1)
    }

    @Test("J58: a full disk drops that turn and all later ones until the owner resumes")
    func fullDisk() throws {
        let rig = JournalRig()
        let isFull = Guarded(true)
        rig.tuning.faults.commit = { turn throws(JournalError) in
            if turn == 3, isFull.withLock({ $0 }) { throw Self.full }
        }
        let journal = try rig.open()
        rig.append(3, to: journal)
        #expect(rig.failures == [.full(turn: 3, message: "\(Self.full)")])
        #expect(journal.lastNumber == 2)
        // A batch that is on its way when the failure is reported is dropped too.
        rig.appendNext(journal)
        isFull.withLock { $0 = false }
        rig.appendNext(journal)
        journal.resume()
        journal.close()
        #expect(rig.turns == [1, 2])
        #expect(try rig.rows().map(\.number) == [1, 2])
    }

    @Test("J58: after a full disk the journal continues at its last row")
    func resumes() throws {
        let rig = JournalRig()
        let isFull = Guarded(true)
        rig.tuning.faults.commit = { turn throws(JournalError) in
            if turn == 3, isFull.withLock({ $0 }) { throw Self.full }
        }
        let journal = try rig.open()
        rig.append(3, to: journal)
        isFull.withLock { $0 = false }
        journal.resume()
        for number in 3...5 as ClosedRange<UInt64> {
            rig.appendNext(journal)
            rig.run { rig.turns.last == number }
        }
        journal.close()
        #expect(try rig.rows().map(\.number) == [1, 2, 3, 4, 5])
    }

    @Test("J60: a failed fsync is reported once, and nothing is retried or acknowledged after it")
    func failedSync() throws {
        let rig = JournalRig()
        let tries = Guarded(0)
        rig.tuning.faults.commit = { turn throws(JournalError) in
            guard turn >= 3 else { return }
            tries.withLock { $0 += 1 }
            throw Self.broken
        }
        let journal = try rig.open()
        rig.append(3, to: journal)
        #expect(rig.failures == [.broken(turn: 3, message: "\(Self.broken)")])
        rig.appendNext(journal)
        journal.resume()
        rig.appendNext(journal)
        journal.close()
        #expect(rig.turns == [1, 2])
        #expect(rig.failures.count == 1 && tries.withLock { $0 } == 1)
    }

    @Test("in relaxed, the log is synchronized for each batch that requires it, and for no other")
    func durableAtRequest() throws {
        let rig = JournalRig()
        let count = Guarded(0)
        rig.tuning.faults.synchronize = { () throws(JournalError) in count.withLock { $0 += 1 } }
        let journal = try rig.open(.relaxed)
        rig.append(3, to: journal)
        #expect(count.withLock { $0 } == 0)
        for number: UInt64 in 4...5 {
            rig.appendNext(journal, isDurable: true)
            rig.run { rig.turns.last == number }
        }
        #expect(count.withLock { $0 } == 2)
        rig.append(2, to: journal)
        #expect(count.withLock { $0 } == 2)
        journal.close()
        #expect(try rig.rows().count == 7)
    }

    @Test("in strict, no commit is synchronized twice")
    func durableAlways() throws {
        let rig = JournalRig()
        let count = Guarded(0)
        rig.tuning.faults.synchronize = { () throws(JournalError) in count.withLock { $0 += 1 } }
        let journal = try rig.open(.strict)
        rig.appendNext(journal, isDurable: true)
        rig.run { rig.turns.last == 1 }
        #expect(count.withLock { $0 } == 0)
        journal.close()
    }

    @Test("J60: in relaxed, a batch whose log cannot be synchronized is never acknowledged")
    func notDurable() throws {
        let rig = JournalRig()
        rig.tuning.faults.synchronize = { () throws(JournalError) in throw Self.broken }
        let journal = try rig.open(.relaxed)
        rig.append(1, to: journal)
        rig.appendNext(journal, isDurable: true)
        rig.run { !rig.failures.isEmpty || rig.turns.last == 2 }
        #expect(rig.failures == [.broken(turn: 2, message: "\(Self.broken)")])
        #expect(rig.turns == [1])
        journal.close()
    }

    @Test("J65: nothing is acknowledged into a directory that was removed")
    func removed() throws {
        let rig = JournalRig()
        let journal = try rig.open()
        rig.append(2, to: journal)
        unsafe rename(rig.path, rig.path + ".old")
        rig.append(1, to: journal)
        let moved = JournalError.moved(path: rig.path)
        #expect(rig.failures == [.broken(turn: 3, message: "\(moved)")])
        #expect(rig.turns == [1, 2])
        journal.close()
        #expect(!FileManager.default.fileExists(atPath: rig.path))
    }

    @Test(
        "J65: nothing is acknowledged into a replaced file",
        arguments: [JournalFile.name, JournalFile.logName, "journal.lock"])
    func replaced(name: String) throws {
        let rig = JournalRig()
        let journal = try rig.open()
        rig.append(2, to: journal)
        let bytes = rig.bytes(of: name)
        try rig.directory().remove(name)
        try rig.set(name, to: bytes)
        rig.append(1, to: journal)
        let moved = JournalError.moved(
            path: name == "journal.lock" ? rig.path : rig.path + "/" + name)
        #expect(rig.failures == [.broken(turn: 3, message: "\(moved)")])
        #expect(rig.turns == [1, 2])
        journal.close()
    }

    @Test("J67: a small step back of the clock does not make times decrease")
    func clock() throws {
        let rig = JournalRig()
        let times = Guarded<[Int64]>([50, -10, 0, 60, 60, 100])
        rig.tuning.now = { times.withLock { $0.popLast() ?? 0 } }
        let journal = try rig.open()
        rig.append(4, to: journal)
        journal.close()
        #expect(try rig.rows().map(\.time) == [60, 60, 60, 60])
    }

    @Test("a journal that would continue after the wrong row is refused")
    func wrongEnd() throws {
        let rig = try JournalRig.closed(3)
        var position = try JournalReader(rig.directory()).verifyRest()
        position.number -= 1
        let error = failure {
            _ = try SQLiteJournal(
                rig.directory(), durability: .strict, after: position, deliver: rig.deliver)
        }
        #expect(error?.damage?.row == 3)
    }

    @Test("a clean close leaves one file with all rows")
    func close() throws {
        let rig = try JournalRig.closed(5)
        #expect(try rig.directory().names() == ["journal.lock", "journal.sqlite", "released-row"])
        #expect(try rig.rows().count == 5)
    }

    @Test("a new epoch may begin anywhere")
    func epochs() throws {
        let rig = JournalRig()
        let journal = try rig.open()
        rig.append(1, to: journal)
        journal.append(
            Batch(turn: 2, epoch: 8, after: 100, sequence: 101))
        rig.run { rig.turns.last == 2 }
        journal.close()
        #expect(try rig.rows().map(\.epoch) == [7, 8])
    }
}
