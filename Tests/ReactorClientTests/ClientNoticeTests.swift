import ReactorCore
import StockReactors
import Testing

@testable import ReactorClient

@Suite("Notices", .timeLimit(.minutes(10)))
struct ClientNoticeTests {
    @Test("the notices report an effect that fails after its action's outcome")
    func effectFailed() async throws {
        let server = try LiveServer(Errand())
        let client = try await Client.connect(to: server.path)
        let other = try await Client.connect(to: server.path)
        var notices = client.notices.makeAsyncIterator()
        var second = client.notices.makeAsyncIterator()
        var others = other.notices.makeAsyncIterator()
        let errand = try await client.mirror(Errand.self, at: "/")
        #expect(await errand.dispatch(.run("no bread")).revision != nil)
        let origin = Origin(client: client.welcome.client, ordinal: 1)
        #expect(await notices.next() == .effectFailed(origin, message: "no bread"))
        #expect(await second.next() == .effectFailed(origin, message: "no bread"))
        client.close()
        #expect(await notices.next() == nil)
        other.close()
        #expect(await others.next() == nil)
    }

    @Test("C90: the loss of a part of the history is reported as a rollback, once mirrors show it")
    func rolledBack() async throws {
        let first = try LiveServer()
        let client = try await Client.connect(to: first.path, options: .brisk)
        var notices = client.notices.makeAsyncIterator()
        let visits = try await client.mirror(StockReactors.Counter.self, at: "/visits")
        #expect(await visits.dispatch(.increment(by: 5)).revision?.sequence == 1)
        first.stop()
        let second = try LiveServer(in: first.folder, epoch: 8)
        let notice = await notices.next()
        #expect(
            notice
                == .rolledBack(
                    from: Revision(epoch: 7, sequence: 1), to: Revision(epoch: 8, sequence: 0)))
        #expect(visits.count == 0)
        client.close()
        second.stop()
    }

    @Test("a loop, and a notice that this client does not know, are reported as such")
    func kinds() {
        let origin = Origin(client: 3, ordinal: 4)
        #expect(
            ClientNotice(Notice(code: "LOOP", message: "a"), of: origin)
                == .loop(origin, message: "a"))
        #expect(
            ClientNotice(Notice(code: "EFFECTS_LOST", message: "c"), of: origin)
                == .effectsLost(origin))
        #expect(
            ClientNotice(Notice(code: "later", message: "b"), of: origin)
                == .other(code: "later", origin, message: "b"))
    }
}
