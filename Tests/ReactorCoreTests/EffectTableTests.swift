import Testing

@testable import ReactorCore

@Suite("EffectTable")
struct EffectTableTests {
    private func id(_ number: UInt64, of node: UInt32 = 1) -> EffectID {
        EffectID(node: node, number: number)
    }

    private func effect(_ sequence: UInt64, isSource: Bool = false) -> RunningEffect {
        RunningEffect(origin: .daemon, sequence: sequence, isSource: isSource)
    }

    @Test("effects are found by their node, in the order in which they were asked for")
    func byNode() {
        var table = EffectTable()
        table.add(effect(5), as: id(3))
        table.add(effect(5), as: id(1))
        table.add(effect(5), as: id(2, of: 9))
        #expect(table.ids(ofNode: 1) { _, _ in true } == [id(1), id(3)])
        #expect(table.ids(ofNode: 1) { id, _ in id.number > 1 } == [id(3)])
        #expect(table.sorted.map(\.id) == [id(1), id(2, of: 9), id(3)])
        #expect(table.remove(id(1)) != nil)
        #expect(table.remove(id(1)) == nil)
        #expect(table.ids(ofNode: 1) { _, _ in true } == [id(3)])
    }

    @Test("a transaction has effects until the last of them ends, and sources do not count")
    func bySequence() {
        var table = EffectTable()
        table.add(effect(5), as: id(1))
        table.add(effect(5), as: id(2))
        table.add(effect(6, isSource: true), as: id(3))
        #expect(table.isAny(of: 5))
        #expect(!table.isAny(of: 6))
        _ = table.remove(id(1))
        #expect(table.isAny(of: 5))
        _ = table.remove(id(2))
        #expect(!table.isAny(of: 5))
        #expect(table.count == 1)
    }
}
