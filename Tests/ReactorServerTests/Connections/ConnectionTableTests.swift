import Testing

@testable import ReactorServer

/// Connections by number.
struct ConnectionTableTests {
    private func connection(_ number: UInt64) -> Connection {
        Connection(id: ConnectionID(number), peer: Peer(uid: 1, gid: 1, pid: 1))
    }

    @Test("a connection is found until it is removed")
    func lookups() {
        let table = ConnectionTable()
        let (first, second) = (connection(1), connection(2))
        table.insert(second)
        table.insert(first)
        #expect(table[first.id] === first && table[first.id] === first)
        #expect(table[second.id] === second && table[ConnectionID(3)] == nil)
        #expect(table.inOrder.map(\.id.rawValue) == [1, 2] && table.count == 2)
        #expect(table.remove(second.id) === second)
        #expect(table[second.id] == nil && table.remove(second.id) == nil)
        #expect(table.remove(first.id) === first && table.isEmpty)
    }
}
