import Testing

@testable import ReactorCluster

struct RowCursorTests {
    private static func cursor() -> RowCursor {
        RowCursor(
            at: .beginning(seed: TestRows.start.chain), check: TestRows.isValid)
    }

    /// The error of an entry that a cursor does not take; it must be unchanged then.
    private static func fork(_ cursor: RowCursor, _ entry: StoredEntry) -> LogFork? {
        var copy = cursor
        do throws(LogFork) {
            let step = try copy.take(entry)
            Issue.record("\(step)")
            return nil
        } catch {
            #expect(copy.position == cursor.position && copy.read == cursor.read)
            return error
        }
    }

    @Test("entries in order give their rows, and the position behind each")
    func order() throws {
        var cursor = Self.cursor()
        let rows = TestRows.rows([1, 2])
        let entries =
            TestRows.entries([rows[0]])
            + TestRows.entries([rows[1]], behind: rows[0].position, first: 2)
        #expect(try cursor.take(entries[0]) == .advanced([rows[0]]))
        #expect(try cursor.take(entries[1]) == .advanced([rows[1]]))
        #expect(
            cursor.position
                == AppliedPosition(
                    row: rows[1].position, entry: LogPosition(number: 2, revision: 20), term: 5))
    }

    @Test("an entry that was taken is ignored, and one behind a missing entry is not taken")
    func disorder() throws {
        var cursor = Self.cursor()
        let rows = TestRows.rows([1, 2, 3])
        let entries = rows.enumerated().flatMap { index, row in
            TestRows.entries(
                [row], behind: index == 0 ? TestRows.start : rows[index - 1].position,
                first: UInt64(index) + 1)
        }
        #expect(try cursor.take(entries[1]) == .gap)
        #expect(try cursor.take(entries[0]) == .advanced([rows[0]]))
        #expect(try cursor.take(entries[2]) == .gap)
        #expect(try cursor.take(entries[0]) == .repeated)
        #expect(try cursor.take(entries[1]) == .advanced([rows[1]]))
        #expect(try cursor.take(entries[0]) == .repeated)
        #expect(cursor.read.number == 2)
    }

    @Test("a row in parts is complete with the last one; until then the position stays")
    func parts() throws {
        var cursor = Self.cursor()
        let rows = TestRows.rows([2 * LogEntry.partBytesMax + 3])
        let entries = TestRows.entries(rows)
        let before = cursor.position
        #expect(try cursor.take(entries[0]) == .advanced([]))
        #expect(try cursor.take(entries[1]) == .advanced([]))
        #expect(cursor.position == before && cursor.read.number == 2)
        #expect(try cursor.take(entries[2]) == .advanced(rows))
        #expect(cursor.position.row == rows[0].position)
    }

    @Test("an entry of a new term drops parts without an end")
    func droppedParts() throws {
        var cursor = Self.cursor()
        let long = TestRows.entries(TestRows.rows([2 * LogEntry.partBytesMax]))
        #expect(try cursor.take(long[0]) == .advanced([]))
        let rows = TestRows.rows([4])
        let next = TestRows.entries(rows, term: 6, first: 2)
        #expect(try cursor.take(next[0]) == .advanced(rows))
        // A late part of the former leader is not among the rows.
        let late = StoredEntry(
            position: LogPosition(number: 3, revision: 30), bytes: long[1].bytes)
        #expect(Self.fork(cursor, late) == .term(at: late.position, expected: 6, got: 5))
    }

    @Test("a part that does not continue the one before is refused, and so are rows between parts")
    func brokenParts() throws {
        var cursor = Self.cursor()
        let rows = TestRows.rows([3 * LogEntry.partBytesMax])
        let entries = TestRows.entries(rows)
        #expect(
            Self.fork(cursor, Self.renumbered(entries[1], 1))
                == .part(
                    at: LogPosition(number: 1, revision: 10), row: 1, expected: 0,
                    got: LogEntry.partBytesMax))
        _ = try cursor.take(entries[0])
        #expect(
            Self.fork(cursor, Self.renumbered(entries[2], 2))
                == .part(
                    at: LogPosition(number: 2, revision: 20), row: 1,
                    expected: LogEntry.partBytesMax, got: 2 * LogEntry.partBytesMax))
        let whole = TestRows.entries(TestRows.rows([1]), first: 2)
        #expect(
            Self.fork(cursor, whole[0])
                == .part(
                    at: whole[0].position, row: 1, expected: LogEntry.partBytesMax, got: 0))
    }

    private static func renumbered(_ entry: StoredEntry, _ number: UInt64) -> StoredEntry {
        StoredEntry(
            position: LogPosition(number: number, revision: number * 10), bytes: entry.bytes)
    }

    @Test("an entry behind other rows is refused, by number and by checksum")
    func otherHistory() {
        let cursor = Self.cursor()
        for behind in [RowPosition(number: 1, chain: 1_000), RowPosition(number: 0, chain: 7)] {
            let entry = TestRows.entries(
                TestRows.rows([1], behind: behind), behind: behind)[0]
            #expect(
                Self.fork(cursor, entry)
                    == .row(at: entry.position, expected: TestRows.start, got: behind))
        }
    }

    @Test("a row whose content has another checksum is refused, also behind a good one")
    func checksum() {
        var rows = TestRows.rows([1, 2])
        rows[1].bytes.append(0)
        let entry = TestRows.entries(rows)[0]
        let fork = Self.fork(Self.cursor(), entry)
        #expect(fork == .checksum(at: entry.position, row: 2))
        #expect(fork?.description.contains("the content of row 2") == true)
    }

    @Test("an entry with a revision that goes back, and one that cannot be decoded, are refused")
    func damage() throws {
        var cursor = Self.cursor()
        let rows = TestRows.rows([1, 2])
        _ = try cursor.take(TestRows.entries([rows[0]])[0])
        var entry = TestRows.entries([rows[1]], behind: rows[0].position, first: 2)[0]
        entry.position.revision = 10
        #expect(Self.fork(cursor, entry) == .revision(at: entry.position, behind: 10))
        let broken = StoredEntry(
            position: LogPosition(number: 2, revision: 20), bytes: [1, 1, 0])
        guard case .damaged(let at, .truncated)? = Self.fork(cursor, broken) else {
            Issue.record("the entry is taken for another damage")
            return
        }
        #expect(at == broken.position)
    }
}
