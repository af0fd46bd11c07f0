import ReactorBytes
import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

/// The body of a batch.
struct BatchBodyTests {
    /// The body of a batch of actions that are numbers, for these nodes.
    private func body(_ ids: [UInt64]) -> [UInt8] {
        var writer = WireWriter()
        writer.array(count: ids.count)
        for id in ids {
            writer.array(count: 2)
            writer.unsigned(id)
            writer.unsigned(1_000)
        }
        return writer.bytes
    }

    @Test("each part is a node's number and the range of its action")
    func parts() throws {
        let bytes = body([4, 1 << 40])
        let parts = try BatchBody.parts(bytes.span, from: 0, countMax: 2)
        #expect(parts.map(\.id) == [4, 1 << 40])
        #expect(parts.map(\.range.count) == [3, 3])
    }

    @Test("a batch that is too long, cut, or followed by bytes is refused")
    func refused() {
        let bytes = body([4, 5])
        #expect(throws: WireError.self) {
            try BatchBody.parts(bytes.span, from: 0, countMax: 1)
        }
        let cut = Array(bytes.dropLast())
        #expect(throws: WireError.self) { try BatchBody.parts(cut.span, from: 0, countMax: 9) }
        let more = bytes + [0]
        #expect(throws: WireError.self) { try BatchBody.parts(more.span, from: 0, countMax: 9) }
    }

    @Test("the aliases are the open nodes, each once, as far as the batch can be read")
    func aliases() throws {
        let bench = try OrganBench()
        bench.open("/visits", as: 4)
        let number = try #require(bench.connection.node(4)).number
        let bytes = body([4, 9, 4, 1 << 40])
        let expected = [NodeAlias(id: 4, node: number)]
        #expect(BatchBody.aliases(bytes.span, hasOptions: false, of: bench.connection) == expected)
        let cut = Array(bytes.prefix(5))
        #expect(BatchBody.aliases(cut.span, hasOptions: false, of: bench.connection) == expected)
        let none: [UInt8] = []
        #expect(BatchBody.aliases(none.span, hasOptions: true, of: bench.connection).isEmpty)
    }
}
