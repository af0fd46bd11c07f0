import Testing

@testable import ReactorServer

/// What each user takes up.
struct UserTableTests {
    @Test("uses add up by user and in all, and a user without any is forgotten")
    func sums() {
        var table = UserTable()
        table.add(connections: 1, of: 5)
        table.add(connections: 1, subscriptions: 3, of: 5)
        table.add(connections: 1, of: 6)
        #expect(table[5] == UserTable.Use(connections: 2, subscriptions: 3))
        #expect(table.total == UserTable.Use(connections: 3, subscriptions: 3))
        table.add(connections: -2, subscriptions: -3, of: 5)
        #expect(table[5] == UserTable.Use() && table.count == 1)
        table.add(connections: -1, of: 6)
        #expect(table.count == 0 && table.total == UserTable.Use())
    }
}
