import Foundation
import ReactorJournal
import ReactorServer
import ReactorThreads
import ReactorWire
import TestPrograms
import Testing

@testable import ReactorDaemon

/// Queries about the past, in order of arrival.
@Suite("HistoryArchive", .timeLimit(.minutes(10)))
struct HistoryArchiveTests {
    @Test("a row appended during other queries is reported to a query that waited before")
    func wakeUp() throws {
        let rig = try ArchiveRig()
        rig.append(1, .child("a", 1))
        let first = rig.block()
        // Both are queued behind the blocked query, so they are taken together.
        let follower = rig.ask(
            .log(path: "/a", after: LogMark(row: 1, skip: 0), waits: true), connection: 2)
        let second = rig.block()
        rig.gate.ring()
        _ = rig.answer(first)
        rig.append(2, .state(of: 1))
        rig.gate.ring()
        _ = rig.answer(second)
        rig.settle()
        let page = try LogPage(wireBytes: #require(rig.found(follower)).get())
        #expect(page.sequences == [2])
        rig.close()
    }

    @Test(
        "a reader's first revision does not affect another client that continues at the same mark")
    func readers() throws {
        let rig = try ArchiveRig()
        rig.append(1, .child("a", 1))
        rig.append(2, .state(of: 1))
        rig.append(3, .state(of: 0))
        let mark = try rig.page(.log(path: "/a"), connection: 1).position
        _ = rig.answer(
            rig.ask(
                .log(path: "/a", from: Revision(epoch: 7, sequence: 999)), connection: 2))
        let follower = rig.ask(.log(path: "/a", after: mark, waits: true), connection: 1)
        rig.settle()
        rig.append(4, .state(of: 1))
        rig.settle()
        let page = try LogPage(wireBytes: #require(rig.found(follower)).get())
        #expect(page.sequences == [4])
        rig.close()
    }

    @Test("the archive does not work on queries of a closed connection")
    func gone() throws {
        let rig = try ArchiveRig()
        rig.append(1, .child("a", 1))
        rig.block()
        let path = rig.home.path("copy")
        let backup = rig.ask(.backup(to: path), connection: 2)
        rig.archive.forget(ConnectionID(2))
        rig.gate.ring()
        #expect(throws: Refusal.self) { try rig.answer(backup).get() }
        #expect(!FileManager.default.fileExists(atPath: path))
        rig.close()
    }

    @Test("a copy for another daemon begins no epoch, and has its position in the log")
    func copyForNode() throws {
        let rig = try ArchiveRig()
        try rig.store(1, .child("a", 1), log: [1, 9])
        for (name, forNode) in [("node", true), ("backup", false)] {
            let path = rig.home.path(name)
            let made = try BackupMade(
                wireBytes: rig.answer(rig.ask(.backup(to: path, forNode: forNode))).get())
            #expect(made.row == 1 && made.revision == Revision(epoch: 7, sequence: 1))
            let copy = try DataDirectory(at: path)
            #expect(try JournalReader(copy).verifyRest().epoch == (forNode ? 7 : 0))
            #expect(try SQLiteJournal.logWords(in: copy) == (forNode ? [1, 9] : nil))
        }
        rig.close()
    }

    @Test("a waiting query of a closed connection is refused")
    func goneFollower() throws {
        let rig = try ArchiveRig()
        rig.append(1, .child("a", 1))
        let follower = rig.ask(
            .log(path: "/a", after: LogMark(row: 1, skip: 0), waits: true), connection: 2)
        rig.settle()
        #expect(rig.found(follower) == nil)
        rig.archive.forget(ConnectionID(2))
        #expect(throws: Refusal.self) { try rig.answer(follower).get() }
        rig.close()
    }

    @Test(
        "W22: after the end of its input no query of a connection waits, whenever it was sent"
    )
    func endedWaits() throws {
        let rig = try ArchiveRig()
        rig.append(1, .child("a", 1))
        let ask = Question.log(path: "/a", after: LogMark(row: 1, skip: 0), waits: true)
        let before = rig.ask(ask, connection: 2)
        rig.settle()
        #expect(rig.found(before) == nil)
        rig.archive.endWaits(of: ConnectionID(2))
        let behind = rig.ask(ask, connection: 2)
        for number in [before, behind] {
            let page = try LogPage(wireBytes: rig.answer(number).get())
            #expect(page.isEnd && page.entries.isEmpty)
        }
        rig.close()
    }

    @Test("an export that skips states and names no revision is answered")
    func exportWithoutRevision() throws {
        let rig = try ArchiveRig()
        rig.append(1, .child("a", 1))
        let number = rig.ask(.export(path: "/", skip: 1), connection: 2)
        rig.gate.ring()
        // The rig cannot create reactors: an answer of any kind is enough.
        #expect(throws: Refusal.self) { try rig.answer(number).get() }
        rig.close()
    }

    @Test("users take turns: one query does not wait for all queries of another user")
    func turns() throws {
        let rig = try ArchiveRig()
        rig.append(1, .child("a", 1))
        let block = rig.block()
        let many = (1...12).map { _ in rig.ask(.log(path: "/a"), connection: 2, uid: 1) }
        let one = rig.ask(.log(path: "/a"), connection: 3, uid: 2)
        rig.gate.ring()
        for number in many { _ = rig.answer(number) }
        _ = rig.answer(one)
        let order = rig.answeredNumbers.filter { $0 != block }
        #expect(try #require(order.firstIndex(of: one)) <= 1, "\(order)")
        #expect(order.filter { $0 != one } == many)
        rig.close()
    }

    @Test("users take turns, also if one user has as many waiting queries as may run")
    func turnsWithFollowers() throws {
        let rig = try ArchiveRig()
        rig.append(1, .child("a", 1))
        var crowd: [UInt64] = []
        for connection in 2...9 {
            crowd += wait(2, connection: UInt64(connection), uid: 1, in: rig)
        }
        // Users take turns here as well, so each turn begins one question of the crowd.
        for _ in crowd { rig.settle() }
        let block = rig.block()
        rig.append(2, .state(of: 1))
        let one = rig.ask(.log(path: "/a"), connection: 10, uid: 2)
        let before = rig.answeredNumbers
        rig.gate.ring()
        for number in crowd { _ = rig.answer(number) }
        _ = rig.answer(one)
        let order = rig.answeredNumbers.filter { $0 != block && !before.contains($0) }
        #expect(try #require(order.firstIndex(of: one)) <= 1, "\(order)")
        rig.close()
    }

    /// Sends this number of queries that wait for new rows.
    private func wait(
        _ count: Int, connection: UInt64, uid: UInt32 = 0, in rig: ArchiveRig
    ) -> [UInt64] {
        (0..<count).map { _ in
            rig.ask(
                .log(path: "/a", after: LogMark(row: 1, skip: 0), waits: true),
                connection: connection, uid: uid)
        }
    }

    @Test("above the limit of waiting queries, the connection with the most loses one")
    func sharedByConnection() throws {
        let rig = try ArchiveRig()
        rig.append(1, .child("a", 1))
        let first = wait(8, connection: 2, in: rig)
        let second = wait(8, connection: 3, in: rig)
        let newcomer = wait(1, connection: 4, in: rig)[0]
        rig.settle()
        #expect(rig.found(newcomer) == nil)
        let page = try LogPage(wireBytes: #require(rig.found(first[0])).get())
        #expect(page.isEnd && page.entries.isEmpty)
        #expect((first.dropFirst() + second).allSatisfy { rig.found($0) == nil })
        rig.append(2, .state(of: 1))
        #expect(try LogPage(wireBytes: rig.answer(newcomer).get()).sequences == [2])
        rig.close()
    }

    @Test(
        "above the limit of waiting queries, the user with the most loses one, and may add none")
    func sharedByUser() throws {
        let rig = try ArchiveRig()
        rig.append(1, .child("a", 1))
        var crowd: [UInt64] = []
        for connection in 2...9 {
            crowd += wait(2, connection: UInt64(connection), uid: 1, in: rig)
        }
        let late = wait(3, connection: 10, uid: 1, in: rig)[2]
        guard case .failure(let refusal) = rig.answer(late) else {
            Issue.record("a user with all places got one more")
            return
        }
        #expect(refusal.code == .busy)
        let other = wait(1, connection: 11, uid: 2, in: rig)[0]
        rig.settle()
        #expect(rig.found(other) == nil)
        rig.close()
    }

    @Test("a query that waits too long is answered with an empty page")
    func deadline() throws {
        let rig = try ArchiveRig()
        rig.append(1, .child("a", 1))
        let follower = wait(1, connection: 2, in: rig)[0]
        rig.settle()
        rig.archive.tick(at: ArchiveWorker.waitMax - 1)
        rig.settle()
        #expect(rig.found(follower) == nil)
        rig.archive.tick(at: ArchiveWorker.waitMax)
        let page = try LogPage(wireBytes: rig.answer(follower).get())
        #expect(page.isEnd && page.entries.isEmpty && page.position == LogMark(row: 1, skip: 0))
        rig.close()
    }

    @Test("R101: after stop() the archive works on no further query")
    func stop() throws {
        let rig = try ArchiveRig()
        rig.append(1, .child("a", 1))
        rig.block()
        let path = rig.home.path("copy")
        let backup = rig.ask(.backup(to: path), connection: 2)
        let log = rig.ask(.log(path: "/"), connection: 3)
        rig.archive.stop()
        rig.gate.ring()
        for number in [backup, log] {
            guard case .failure(let refusal) = rig.answer(number) else {
                Issue.record("question \(number) was answered")
                continue
            }
            #expect(refusal.code == .draining)
        }
        #expect(!FileManager.default.fileExists(atPath: path))
        rig.close()
    }
}
