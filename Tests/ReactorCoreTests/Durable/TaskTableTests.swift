import Testing

@testable import ReactorCore

@Suite("TaskTable")
struct TaskTableTests {
    private func effect(_ name: String, _ id: UInt64, of node: UInt32 = 3) -> TaskFact {
        .effect(node: node, name: name, id: id, payload: WireEmbedded(1))
    }

    @Test("a fact replaces the task of its name, and its end removes the task once")
    func facts() {
        var table = TaskTable()
        table.apply(effect("mail", 1))
        table.apply(effect("mail", 2))
        table.apply(effect("call", 3))
        table.apply(effect("mail", 4, of: 8))
        #expect(table.count == 3 && table.names(of: 3).sorted() == ["call", "mail"])
        #expect(table.find("mail", of: 3)?.id == 2 && table.find("mail", of: 9) == nil)
        #expect(table.facts.map(\.id) == [2, 3, 4])
        for _ in 0..<2 { table.apply(.done(node: 3, name: "mail")) }
        #expect(table.count == 2 && table.find("mail", of: 3) == nil)
        #expect(table.find("mail", of: 8)?.id == 4 && table.invariants(at: 3))
    }

    @Test("the tasks of a removed node are forgotten, and those of other nodes remain")
    func forget() {
        var table = TaskTable()
        for (node, id) in [(3, 1), (3, 2), (8, 3)] as [(UInt32, UInt64)] {
            table.apply(effect("task \(id)", id, of: node))
        }
        table.forget(node: 3)
        table.forget(node: 3)
        #expect(table.count == 1 && table.names(of: 3).isEmpty && table.facts.map(\.id) == [3])
    }

    @Test("no new id is one that a recorded task has")
    func ids() {
        var table = TaskTable()
        #expect(table.newID() == 1)
        table.apply(effect("mail", 7))
        #expect(table.newID() == 8)
        table.skip(to: 5)
        #expect(table.newID() == 9)
        table.apply(.done(node: 3, name: "mail"))
        #expect(table.newID() == 10)
    }

    @Test("after the loss of a history's end, ids are far behind those that it may have had")
    func epoch() {
        var table = TaskTable()
        table.skip(to: 5 << 32 | 17)
        table.begin(epoch: 2 << 40)
        #expect(table.newID() == 8 << 32 | 1)
    }
}
