import ReactorCore
import Testing

@testable import ReactorClient

/// The questions about types, tested alone.
struct TypeInquiriesTests {
    @Test("one question serves all sinks of a path, and each connection asks again")
    func ask() {
        var inquiries = TypeInquiries()
        let sinks = [StagedSink(), StagedSink(), StagedSink()]
        inquiries.enqueue(sinks[0], at: "/a", wasLive: false)
        inquiries.enqueue(sinks[1], at: "/a", wasLive: false)
        inquiries.enqueue(sinks[2], at: "/b", wasLive: false)
        #expect(inquiries.ask("/a") && !inquiries.ask("/a"))
        #expect(inquiries.askAll { _ in true } == ["/b"])
        inquiries.suspend()
        #expect(inquiries.askAll { $0 == "/a" } == ["/a"])
        #expect(inquiries.conclude("/a").map(\.sink).elementsEqual(sinks[0..<2]) { $0 === $1 })
        #expect(inquiries.sinks.count == 1 && inquiries.ask("/a"))
    }

    @Test("a sink that shows a state holds the other mirrors until it leaves or may not come back")
    func hold() {
        var inquiries = TypeInquiries()
        let sink = StagedSink()
        inquiries.enqueue(sink, at: "/a", wasLive: true)
        #expect(inquiries.isHolding)
        inquiries.stopHolding { $0 == "/a" }
        #expect(!inquiries.isHolding)
        inquiries.leave(sink)
        #expect(inquiries.isEmpty && inquiries.sinks(at: "/a").isEmpty)
    }
}
