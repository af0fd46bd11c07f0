import Testing

@testable import ReactorServer

/// The counts of each user's resources.
struct UserCountsTests {
    @Test("counts add up by user and in all, and a user without any is forgotten")
    func sums() {
        var counts = UserCounts()
        counts.count(2, of: 5)
        counts.count(1, of: 6)
        #expect(counts[5] == 2 && counts[6] == 1 && counts[7] == 0)
        #expect(counts.total == 3 && counts.userCount == 2)
        counts.count(-2, of: 5)
        #expect(counts[5] == 0 && counts.userCount == 1)
        counts.count(-1, of: 6)
        #expect(counts.userCount == 0 && counts.total == 0)
    }
}
