import ReactorCore
import Testing

@testable import ReactorClient

@Suite("NoticeFeed", .timeLimit(.minutes(10)))
struct NoticeFeedTests {
    private func notice(_ number: Int) -> ClientNotice {
        .loop(Origin(client: 1, ordinal: UInt64(number)), message: "")
    }

    @Test("a reader gets the notices after its start, and the end")
    func order() async {
        let feed = NoticeFeed()
        feed.add(notice(1))
        var reader = ClientNotices(feed: feed).makeAsyncIterator()
        feed.add(notice(2))
        feed.add(notice(3))
        feed.finish()
        #expect(await reader.next() == notice(2))
        #expect(await reader.next() == notice(3))
        #expect(await reader.next() == nil)
    }

    @Test("a reader that falls behind misses the oldest")
    func bounded() async {
        let feed = NoticeFeed()
        var reader = ClientNotices(feed: feed).makeAsyncIterator()
        for number in 1...ClientNotices.keptMax + 10 { feed.add(notice(number)) }
        #expect(await reader.next() == notice(11))
    }
}
