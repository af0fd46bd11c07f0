import Testing

@testable import ReactorCore

@Suite("EffectTable")
struct EffectTableTests {
    private func id(_ number: UInt64, of node: UInt32 = 1) -> EffectID {
        EffectID(node: node, number: number)
    }

    private func effect(
        _ sequence: UInt64, isSource: Bool = false, name: String? = nil, connection: UInt64? = nil
    ) -> RunningEffect {
        RunningEffect(
            cancelID: name, origin: .daemon, sequence: sequence, connection: connection,
            isSource: isSource)
    }

    private func cancellation(
        _ selection: EffectSelection, upTo last: UInt64 = .max
    ) -> EffectCancellation {
        EffectCancellation(node: 1, selection: selection, last: last)
    }

    @Test("effects are found by node, in the order of their requests")
    func byNode() {
        var table = EffectTable()
        table.insert(effect(5), as: id(3))
        table.insert(effect(5), as: id(1))
        table.insert(effect(5), as: id(2, of: 9))
        #expect(table.ids(ofNode: 1) == [id(1), id(3)])
        #expect(table.ids(of: cancellation(.all, upTo: 2)) == [id(1)])
        #expect(table.sorted.map(\.id) == [id(1), id(2, of: 9), id(3)])
        #expect(table.remove(id(1)) != nil)
        #expect(table.remove(id(1)) == nil)
        #expect(table.ids(ofNode: 1) == [id(3)])
    }

    @Test("effects are found by name and by connection")
    func byGroup() {
        var table = EffectTable()
        table.insert(effect(1, name: "a"), as: id(1))
        table.insert(effect(2, name: "b", connection: 7), as: id(2))
        table.insert(effect(3, name: "a", connection: 7), as: id(3))
        table.insert(effect(3, name: "a"), as: id(4, of: 2))
        #expect(table.ids(of: cancellation(.named("a"))) == [id(1), id(3)])
        #expect(table.ids(of: cancellation(.named("a"), upTo: 2)) == [id(1)])
        #expect(table.ids(of: cancellation(.named("c"))).isEmpty)
        #expect(table.ids(ofConnection: 7) == [id(2), id(3)])
        _ = table.remove(id(3))
        #expect(table.ids(of: cancellation(.named("a"))) == [id(1)])
        #expect(table.ids(ofConnection: 7) == [id(2)])
    }

    @Test("an effect counts as started from the moment it can be cancelled until it ends")
    func started() {
        var table = EffectTable()
        table.insert(effect(1), as: id(1))
        #expect(table.startedCount == 0)
        table.set(cancel: {}, of: id(1))
        table.set(cancel: {}, of: id(1))
        table.set(cancel: {}, of: id(2))
        #expect(table.startedCount == 1)
        _ = table.remove(id(1))
        #expect(table.startedCount == 0)
    }

    @Test("a transaction has effects until the last one ends; sources do not count")
    func bySequence() {
        var table = EffectTable()
        table.insert(effect(5), as: id(1))
        table.insert(effect(5), as: id(2))
        table.insert(effect(6, isSource: true), as: id(3))
        #expect(table.ids(of: 5) == [id(1), id(2)] && table.ids(of: 6).isEmpty)
        #expect(table.isAny(of: 5))
        #expect(!table.isAny(of: 6))
        _ = table.remove(id(1))
        #expect(table.isAny(of: 5))
        _ = table.remove(id(2))
        #expect(!table.isAny(of: 5))
        #expect(table.count == 1)
    }
}

@Suite("EffectQueue")
struct EffectQueueTests {
    @Test("effects leave in order of arrival, and removed ones leave no trace")
    func order() {
        var queue = EffectQueue()
        var started: [UInt64] = []
        for number: UInt64 in 1...1_000 {
            queue.append(EffectID(node: 1, number: number)) { started.append(number) }
        }
        for number: UInt64 in 1...1_000 where number % 100 != 0 {
            #expect(queue.remove(EffectID(node: 1, number: number)) != nil)
        }
        #expect(queue.remove(EffectID(node: 1, number: 1)) == nil)
        #expect(queue.count == 10 && queue.keptCount < 100)
        while let start = queue.popFirst() { start() }
        #expect(started == Array(stride(from: 100, through: 1_000, by: 100)))
        #expect(queue.isEmpty && queue.keptCount == 0)
    }
}
