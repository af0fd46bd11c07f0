import ReactorServer
import Testing

@testable import ReactorDaemon

struct LimitTableTests {
    @Test("every stored limit is in the table under its own name")
    func tableIsWhole() {
        let stored = Mirror(reflecting: ServerLimits()).children.compactMap(\.label)
        #expect(stored.sorted() == LimitTable.entries.map(\.name).sorted())
    }

    @Test("names are distinct, and every summary has a text")
    func entries() {
        #expect(Set(LimitTable.entries.map(\.name)).count == LimitTable.entries.count)
        #expect(LimitTable.entries.allSatisfy { $0.summary.count > 10 })
        #expect(LimitTable.entry(named: "ringBytesMax")?.name == "ringBytesMax")
        #expect(LimitTable.entry(named: "ringBytes") == nil)
    }

    @Test("a limit is written in its unit")
    func text() throws {
        var limits = ServerLimits()
        limits.inFlightMax = 7
        limits.ringBytesMax = 3 << 10
        limits.handshakeDeadline = 250_000_000
        func text(_ name: String) throws -> String {
            LimitTable.text(of: try #require(LimitTable.entry(named: name)), in: limits)
        }
        #expect(try text("inFlightMax") == "7")
        #expect(try text("ringBytesMax") == "3KiB")
        #expect(try text("handshakeDeadline") == "250ms")
    }

    @Test("both limits of every nested pair exist")
    func nested() {
        for (inner, outer) in LimitTable.nested {
            #expect(LimitTable.entry(named: inner) != nil)
            #expect(LimitTable.entry(named: outer) != nil)
        }
    }
}
