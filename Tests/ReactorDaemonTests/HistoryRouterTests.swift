import Foundation
import ReactorClient
import ReactorWire
import TestPrograms
import Testing

@testable import ReactorDaemon

/// Limits on queries about the past.
@Suite("HistoryRouter", .timeLimit(.minutes(10)))
struct HistoryRouterTests {
    private func daemon(in directory: TestDirectory) async throws -> DaemonProcess {
        try await DaemonProcess.start(
            config: "data:\n  directory: \(directory.path("data"))\n"
                + "reactors:\n  visits: { kind: counter }\n", in: directory)
    }

    @Test("two connections with eight waiting queries each do not block the log for others")
    func logs() async throws {
        let directory = TestDirectory()
        let daemon = try await daemon(in: directory)
        var clients: [Client] = []
        for _ in 1...2 { clients.append(try await Client.connect(to: daemon.socketPath)) }
        let reactorctl = Reactorctl(daemon: daemon)
        await withTaskGroup(of: Void.self) { group in
            for client in clients {
                for _ in 1...8 {
                    group.addTask { _ = try? await client.log("/visits", waits: true) }
                }
            }
            // This query is behind the others on its connection, so it is the last of them.
            _ = try? await clients[1].log("/visits")
            for _ in 1...3 {
                let result = try? await reactorctl("log", "/visits")
                #expect(result?.code == 0)
            }
            for client in clients { client.close() }
        }
        #expect(await daemon.stop() == .exited(0))
    }

    @Test("exports that skip states are answered, and then no longer count as waiting")
    func exports() async throws {
        let directory = TestDirectory()
        let daemon = try await daemon(in: directory)
        let client = try await Client.connect(to: daemon.socketPath)
        for _ in 1...HistoryRouter.heavyMax + 1 {
            let page = try await client.export("/", skip: 1)
            #expect(page.nodes.map(\.path) == ["/visits"] && page.next == nil)
        }
        client.close()
        #expect(await daemon.stop() == .exited(0))
    }

    @Test("a query of a client that disconnects in the same turn does not stay waiting")
    func goneBeforeTheTurn() async throws {
        let directory = TestDirectory()
        let daemon = try await daemon(in: directory)
        let client = try await Client.connect(to: daemon.socketPath)
        let end = try await client.log("/visits").position
        // A stopped daemon later reads the query and the end of input together.
        daemon.signal(SIGSTOP)
        for _ in 1...ArchiveWorker.followersMax + 1 {
            let socket = try #require(RawSocket(daemon.socketPath))
            socket.send(RawSocket.hello)
            let ask = Question.log(path: "/visits", after: end, waits: true)
            socket.send(.ask, number: 1, ask.wireBytes())
        }
        daemon.signal(SIGCONT)
        for _ in 1...3 { try await client.ping() }
        // If the queries of closed connections stayed, no place would be left for this one.
        async let page = client.log("/visits", after: end, waits: true)
        let run = try await Reactorctl(daemon: daemon)("dispatch", "/visits", #"{"increment":{}}"#)
        #expect(run.code == 0)
        #expect(try await page.entries.count <= 1)
        client.close()
        #expect(await daemon.stop() == .exited(0))
    }
}
