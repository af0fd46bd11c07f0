import ReactorThreads
import Testing

@testable import ReactorJournal

/// Drives ``SnapshotTask``, ``SnapshotParts`` and ``SQLiteBlob``.
@Suite("Writing snapshots")
struct SnapshotWriterTests {
    static func parts(_ count: Int) -> [[UInt8]] {
        (0..<count).map { Array("part \($0) of a state".utf8) + [UInt8](repeating: 3, count: $0) }
    }

    /// Writes a snapshot of the journal's last row.
    static func write(
        _ journal: SQLiteJournal, _ rig: JournalRig, parts: [[UInt8]] = parts(5)
    ) throws -> Result<SnapshotHeader, JournalError> {
        try write(journal, rig) { writer in
            for part in parts { writer.append(part) }
        }
    }

    /// Writes a snapshot of the journal's last row, with the parts that `append` adds.
    private static func write(
        _ journal: SQLiteJournal, _ rig: JournalRig, append: (SnapshotWriter) -> Void
    ) throws -> Result<SnapshotHeader, JournalError> {
        var result: Result<SnapshotHeader, JournalError>?
        let writer = try SnapshotWriter(
            rig.directory(), of: journal.lastNumber, sequence: journal.lastNumber * 2,
            tuning: rig.tuning, deliver: rig.deliver
        ) { result = $0 }
        append(writer)
        writer.finish()
        writer.join()
        rig.run { result != nil }
        #expect(writer.waitingPartCount == 0 || (try? result?.get()) == nil)
        return try #require(result)
    }

    @Test("a snapshot's parts are read back, with the position at which the journal continues")
    func roundTrip() throws {
        let rig = JournalRig()
        let journal = try rig.open()
        rig.append(3, to: journal)
        let header = try Self.write(journal, rig, parts: Self.parts(500)).get()
        #expect(try header.position == rig.rows().last?.position)
        journal.close()
        let reader = try SnapshotReader(rig.directory(), of: 3)
        #expect(reader.header == header && header.partCount == 500)
        for part in Self.parts(500) { #expect(try reader.next() == part) }
        #expect(try reader.next() == nil)
    }

    @Test("parts of any size are read back, also those that are written piece by piece")
    func large() throws {
        let rig = JournalRig()
        let journal = try rig.open()
        rig.append(1, to: journal)
        let parts = [1 << 20, (1 << 20) + 1, 3_000_000, 7].map { count in
            (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ count) }
        }
        _ = try Self.write(journal, rig, parts: parts).get()
        journal.close()
        let reader = try SnapshotReader(rig.directory(), of: 1)
        for part in parts { #expect(try reader.next() == part) }
        #expect(try reader.next() == nil)
    }

    /// Writes a snapshot whose second of three parts comes in pieces; `encode` gets the number of the
    /// pass.
    private func write(
        _ journal: SQLiteJournal, _ rig: JournalRig, announced byteCount: Int,
        _ encode: @escaping @Sendable (Int, (Span<UInt8>) -> Void) -> Void
    ) throws -> Result<SnapshotHeader, JournalError> {
        try Self.write(journal, rig) { writer in
            writer.append { parts in
                parts.add([1, 2].span)
                let pass = Guarded(0)
                parts.add(byteCount: byteCount) { take in
                    let number = pass.withLock { number in
                        number += 1
                        return number
                    }
                    encode(number, take)
                }
                parts.add([3].span)
            }
        }
    }

    @Test("a part that comes in pieces is read back as a whole, between others")
    func pieces() throws {
        let rig = JournalRig()
        let journal = try rig.open()
        rig.append(1, to: journal)
        let piece = (0..<70_001).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let result = try write(journal, rig, announced: 40 * piece.count) { _, take in
            for _ in 0..<40 { take(piece.span) }
        }
        #expect(try result.get().partCount == 3)
        journal.close()
        let reader = try SnapshotReader(rig.directory(), of: 1)
        #expect(try reader.next() == [1, 2])
        #expect(try reader.next() == Array(repeatElement(piece, count: 40).joined()))
        #expect(try reader.next() == [3] && reader.next() == nil)
        try SnapshotReader(rig.directory(), of: 1).verifyRest()
    }

    @Test(
        "J57: a state whose encodings differ in length or content fails its snapshot",
        arguments: ["shorter", "longer", "other", "announced"])
    func unequal(_ difference: String) throws {
        let rig = JournalRig()
        let journal = try rig.open()
        rig.append(1, to: journal)
        let piece = [UInt8](repeating: 7, count: 1_000)
        let announced = difference == "announced" ? 4_000 : 3_000
        let result = try write(journal, rig, announced: announced) { pass, take in
            take(piece.span)
            take(piece.span)
            switch difference {
            case "shorter" where pass == 2: break
            case "other" where pass == 2: take([UInt8](repeating: 8, count: 1_000).span)
            case "longer" where pass == 2: for _ in 0..<2 { take(piece.span) }
            default: take(piece.span)
            }
        }
        #expect((try? result.get()) == nil)
        journal.close()
        #expect(try SnapshotStore(rig.directory()).numbers() == [])
    }

    @Test("a snapshot may have no parts, or precede the first row")
    func empty() throws {
        let rig = JournalRig()
        let journal = try rig.open()
        #expect(try Self.write(journal, rig, parts: []).get().partCount == 0)
        journal.close()
        #expect(try SnapshotReader(rig.directory(), of: 0).next() == nil)
    }

    @Test("a snapshot of a row that was not committed fails")
    func early() throws {
        let rig = JournalRig()
        let journal = try rig.open()
        var result: Result<SnapshotHeader, JournalError>?
        let writer = try SnapshotWriter(
            rig.directory(), of: 4, sequence: 8, tuning: rig.tuning, deliver: rig.deliver
        ) { result = $0 }
        writer.finish()
        rig.run { result != nil }
        guard case .failure(let error)? = result else { return #expect(Bool(false)) }
        #expect(error.damage?.row == 4)
        journal.close()
        #expect(try SnapshotStore(rig.directory()).numbers().isEmpty)
    }

    @Test(
        "J57, J59: a snapshot that fails at any step leaves the old ones, and the journal goes on",
        arguments: ["open", "parts", "synchronize", "rename"])
    func fails(step: String) throws {
        let rig = JournalRig()
        let journal = try rig.open()
        rig.append(1, to: journal)
        _ = try Self.write(journal, rig).get()
        rig.append(1, to: journal)
        let full = JournalError.system(SystemFailure(call: "write", path: "p", code: 28))
        rig.tuning.faults.snapshot = { at throws(JournalError) in if at == step { throw full } }
        #expect(try Self.write(journal, rig) == .failure(full))
        rig.append(1, to: journal)
        journal.close()
        #expect(try SnapshotStore(rig.directory()).numbers() == [1])
        #expect(try rig.directory().names().allSatisfy { !SnapshotHeader.isPartial($0) })
        #expect(try rig.rows().count == 3)
    }

    @Test(
        "J60: a log or a name that cannot be made durable breaks the journal, not one snapshot",
        arguments: ["log", "rename"])
    func brokenDisk(step: String) throws {
        let rig = JournalRig()
        let journal = try rig.open()
        rig.append(1, to: journal)
        let broken = JournalError.system(SystemFailure(call: "fsync", path: "p", code: 5))
        rig.tuning.faults.snapshot = { at throws(JournalError) in if at == step { throw broken } }
        #expect(try Self.write(journal, rig) == .failure(broken))
        #expect(rig.failures == [.broken(turn: 0, message: "\(broken)")])
        rig.appendNext(journal)
        #expect(try Self.write(journal, rig) == .failure(broken), "it is tried again")
        journal.close()
        #expect(rig.turns == [1] && rig.failures.count == 1)
    }

    @Test("a state of another revision than its row's is refused, and leaves no file")
    func displaced() throws {
        let rig = JournalRig()
        let journal = try rig.open()
        rig.append(2, to: journal)
        var result: Result<SnapshotHeader, JournalError>?
        let writer = try SnapshotWriter(
            rig.directory(), of: 2, sequence: 5, tuning: rig.tuning, deliver: rig.deliver
        ) { result = $0 }
        writer.finish()
        rig.run { result != nil }
        guard case .failure(.damage(let damage))? = result else {
            Issue.record("\(String(describing: result))")
            return
        }
        #expect(damage.row == 2 && damage.expected.hasSuffix("4") && damage.got.hasSuffix("5"))
        journal.close()
        #expect(try SnapshotStore(rig.directory()).numbers() == [])
    }

    @Test("two snapshots of one row can be written at once")
    func twice() throws {
        let rig = JournalRig()
        let journal = try rig.open()
        var results: [Result<SnapshotHeader, JournalError>] = []
        let writers = try (0..<2).map { _ in
            try SnapshotWriter(
                rig.directory(), of: 0, sequence: 0, tuning: rig.tuning, deliver: rig.deliver
            ) { results.append($0) }
        }
        for part in Self.parts(9) { for writer in writers { writer.append(part) } }
        for writer in writers { writer.finish() }
        rig.run { results.count == 2 }
        #expect(results.allSatisfy { (try? $0.get().partCount) == 9 })
        journal.close()
        try SnapshotReader(rig.directory(), of: 0).verifyRest()
    }

    private final class Witness {}

    @Test(
        "objects that a callback captures are released on the owner's thread, also after a cancel")
    func handedBack() throws {
        let rig = JournalRig()
        let journal = try rig.open()
        var jobs: [@Sendable () -> Void] = []
        let mailbox = Mailbox<@Sendable () -> Void> {}
        let bell = Bell()
        var witness: Witness? = Witness()
        weak let seen = witness
        let deliver: @Sendable (@escaping @Sendable () -> Void) -> Void = { job in
            mailbox.post(job)
            bell.ring()
        }
        let writer = try SnapshotWriter(
            rig.directory(), of: 0, sequence: 0, tuning: rig.tuning, deliver: deliver
        ) { [witness] _ in withExtendedLifetime(witness) {} }
        witness = nil
        writer.cancel()
        bell.wait()
        #expect(seen != nil)
        mailbox.drain(into: &jobs)
        for job in jobs { job() }
        #expect(seen == nil)
        journal.close()
    }

    @Test("another process can have the directory when the snapshot's thread is joined")
    func joined() throws {
        let rig = JournalRig()
        let journal = try rig.open()
        rig.append(1, to: journal)
        let isDelivered = Flag()
        let writer = try SnapshotWriter(
            rig.directory(), of: 1, sequence: 2, tuning: rig.tuning,
            deliver: { job in
                job()
                // The thread has the directory for longer than its owner knows.
                WorkThread.pause(for: .milliseconds(50))
                isDelivered.raise()
            },
            onFinished: { #expect((try? $0.get().position.number) == 1) })
        writer.finish()
        writer.join()
        #expect(isDelivered.isUp)
        journal.close()
    }

    @Test("a cancelled snapshot leaves no file")
    func cancelled() throws {
        let rig = JournalRig()
        let journal = try rig.open()
        let (began, ended) = (Bell(), Bell())
        let isFirst = Flag()
        isFirst.raise()
        rig.tuning.faults.snapshot = { at throws(JournalError) in
            // The thread comes here a second time if it finds the cancellation later than the part.
            guard at == "parts", isFirst.take() else { return }
            began.ring()
            ended.wait()
        }
        final class Token {}
        var token: Token? = Token()
        weak let held = token
        let writer = try SnapshotWriter(
            rig.directory(), of: 0, sequence: 0, tuning: rig.tuning, deliver: rig.deliver
        ) { [token] _ in
            Issue.record("a cancelled snapshot reports an end")
            withExtendedLifetime(token) {}
        }
        token = nil
        writer.append([1])
        began.wait()
        writer.cancel()
        ended.ring()
        // The closure is released as the last step of the snapshot's thread.
        rig.run { held == nil }
        rig.tuning.faults.snapshot = nil
        rig.append(1, to: journal)
        _ = try Self.write(journal, rig).get()
        journal.close()
        #expect(try SnapshotStore(rig.directory()).numbers() == [1])
    }
}
