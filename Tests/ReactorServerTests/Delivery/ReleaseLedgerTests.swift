import ReactorBytes
import Testing

@testable import ReactorServer

/// Turns by number, tested without a server.
struct ReleaseLedgerTests {
    private func connection(_ number: UInt64) -> Connection {
        Connection(
            id: ConnectionID(number), peer: Peer(uid: 1, gid: 1, pid: 1))
    }

    /// Ends a turn; without a number of bytes, it has no batch.
    private func end(_ ledger: inout ReleaseLedger, _ batchByteCount: Int?) {
        let listed = ledger.takeListed()
        ledger.seal(listed, [], batchByteCount: batchByteCount)
    }

    /// Takes every turn whose outputs may leave.
    private func released(_ ledger: inout ReleaseLedger) -> [UInt64] {
        var numbers: [UInt64] = []
        while let turn = ledger.popReleased() {
            numbers.append(turn.number)
            ledger.recycle(turn)
        }
        return numbers
    }

    @Test("a connection is listed once a turn, and in its turn")
    func lists() {
        var ledger = ReleaseLedger(byteCountMax: 100)
        let (first, second) = (connection(1), connection(2))
        ledger.list(first)
        ledger.list(second)
        ledger.list(first)
        let listed = ledger.takeListed()
        #expect(listed.objects.map(\.id.rawValue) == [1, 2])
        ledger.seal(listed, [], batchByteCount: nil)
        let (isListed, isEmpty) = (ledger.isListed(first), ledger.listed.isEmpty)
        #expect(!isListed && isEmpty)
        guard let turn = ledger.popReleased() else {
            Issue.record("a turn without a batch waits")
            return
        }
        #expect(turn.connections.objects.map(\.id.rawValue) == [1, 2])
        ledger.recycle(turn)
        ledger.list(first)
        let again = ledger.listed.count
        #expect(again == 1)
    }

    @Test("a turn leaves once its batch and all before it are appended")
    func order() {
        var ledger = ReleaseLedger(byteCountMax: 1_000)
        for byteCount in [10, nil, 20, nil, 30] { end(&ledger, byteCount) }
        var numbers = released(&ledger)
        #expect(numbers == [])
        ledger.markAppended(upTo: 1)
        numbers = released(&ledger)
        #expect(numbers == [1, 2])
        let (waiting, kept) = (ledger.byteCount, ledger.lastKeptTurn)
        #expect(waiting == 50 && kept == 5)
        ledger.markAppended(upTo: 5)
        numbers = released(&ledger)
        #expect(numbers == [3, 4, 5])
        let (isEmpty, last) = (ledger.isEmpty, ledger.releasedTurn)
        #expect(isEmpty && last == 5)
    }

    @Test("an answer about a turn that has left, or never ended, is ignored")
    func strangeNumbers() {
        var ledger = ReleaseLedger(byteCountMax: 1_000)
        end(&ledger, 10)
        ledger.markAppended(upTo: 2)
        ledger.markAppended(upTo: .max)
        ledger.markAppended(upTo: 0)
        var numbers = released(&ledger)
        #expect(numbers == [])
        ledger.markAppended(upTo: 1)
        numbers = released(&ledger)
        #expect(numbers == [1])
        ledger.markAppended(upTo: 1)
        numbers = released(&ledger)
        #expect(numbers == [])
    }

    @Test("too many waiting bytes cause congestion, until the journal has caught up with half")
    func congestion() {
        var ledger = ReleaseLedger(byteCountMax: 100)
        for _ in 0..<3 { end(&ledger, 40) }
        let isCongested = ledger.isCongested
        #expect(isCongested)
        ledger.markAppended(upTo: 1)
        _ = released(&ledger)
        let isEarly = ledger.endCongestion()
        #expect(!isEarly)
        ledger.markAppended(upTo: 2)
        _ = released(&ledger)
        let hasEnded = ledger.endCongestion()
        #expect(hasEnded)
        let isOver = !ledger.isCongested
        #expect(isOver)
    }

    @Test("while the shell holds clients back, nothing ends the congestion")
    func heldBack() {
        var ledger = ReleaseLedger(byteCountMax: 100)
        let isNew = ledger.holdBack(true)
        let isRepeated = ledger.holdBack(true)
        #expect(isNew && !isRepeated)
        let (isCongested, hasEnded) = (ledger.isCongested, ledger.endCongestion())
        #expect(isCongested && !hasEnded)
        let isLetGo = ledger.holdBack(false)
        let isOver = ledger.endCongestion()
        #expect(isLetGo && isOver)
    }

    @Test("a lower limit of waiting bytes causes congestion, and a higher one ends it sooner")
    func limits() {
        var ledger = ReleaseLedger(byteCountMax: 100)
        end(&ledger, 80)
        ledger.limit(byteCountMax: 50)
        let (isCongested, isEarly) = (ledger.isCongested, ledger.endCongestion())
        #expect(isCongested && !isEarly)
        ledger.limit(byteCountMax: 200)
        let hasEnded = ledger.endCongestion()
        #expect(hasEnded)
    }
}
