import ReactorCore
import Testing

@Suite("guide: ownership and deferred replies")
struct OwnershipGuideTests {
    @Test("a print is answered when it is delivered, in the order of the prints")
    func answers() throws {
        let tree = Tree(Printer(), epoch: 1)
        #expect(try tree.send(Printer.Action.print("poem"), from: 1) == "deferred 1")
        #expect(try tree.send(Printer.Action.print("novel"), from: 2) == "deferred 2")
        #expect(try tree.send(Printer.Action.print("more"), from: 1) == "rejected one_job")
        #expect(try tree.send(Printer.Action.deliver(pages: 3), from: 9) == "applied 3")
        let answer = try #require(tree.turn.takeResolutions().first)
        #expect(answer.ticket.client == 101)
        #expect(try tree.state(of: Printer.self).jobs.map(\.text) == ["novel"])
        #expect(try tree.send(Printer.Action.print("more"), from: 1) == "deferred 4")
    }

    @Test("the jobs of an ended connection leave the queue, and the next job is delivered")
    func gone() throws {
        let tree = Tree(Printer(), epoch: 1)
        try tree.send(Printer.Action.print("poem"), from: 1)
        try tree.send(Printer.Action.print("novel"), from: 2)
        tree.endConnection(1)
        #expect(tree.turn.takeResolutions().isEmpty)
        #expect(try tree.state(of: Printer.self).jobs.map(\.text) == ["novel"])
        try tree.send(Printer.Action.deliver(pages: 1), from: 9)
        #expect(tree.turn.takeResolutions().map(\.ticket.client) == [102])
        tree.endConnection(2)
        #expect(tree.revision.sequence == 4)
    }
}
