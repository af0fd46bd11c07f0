import Foundation
import ReactorClient
import ReactorServer
import ReactorWire
import TestPrograms
import Testing

@testable import ReactorDaemon

/// Limits on queries about the past.
@Suite("HistoryRouter", .timeLimit(.minutes(10)))
struct HistoryRouterTests {
    private func daemon(
        in directory: TestDirectory, limits: String = ""
    ) async throws -> DaemonProcess {
        try await DaemonProcess.start(
            config: "data:\n  directory: \(directory.path("data"))\nlimits: { \(limits) }\n"
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
        for _ in 1...ServerLimits().heavyPerUIDMax + 1 {
            let page = try await client.export("/", skip: 1)
            #expect(page.nodes.map(\.path) == ["/visits"] && page.next == nil)
        }
        client.close()
        #expect(await daemon.stop() == .exited(0))
    }

    @Test("of the queries of one user that need a second tree, heavyPerUIDMax may wait")
    func heavy() async throws {
        let directory = TestDirectory()
        let daemon = try await daemon(in: directory, limits: "heavyPerUIDMax: 2")
        let socket = try #require(RawSocket.welcomed(at: daemon.socketPath))
        // A stopped daemon later reads all three together, before it can answer one.
        daemon.signal(SIGSTOP)
        for number in 1...3 as ClosedRange<UInt64> {
            socket.send(.ask, number: number, Question.export(path: "/").wireBytes())
        }
        daemon.signal(SIGCONT)
        var answered: Set<UInt64> = []
        var refusals: [UInt64: Refusal] = [:]
        while answered.count + refusals.count < 3 {
            let (header, body) = try #require(socket.wholeFrame())
            if header.kind == FrameKind.refused.rawValue {
                refusals[header.number] = try Refusal(wireBytes: body)
            } else if header.kind == FrameKind.answer.rawValue {
                answered.insert(header.number)
            }
        }
        #expect(answered == [1, 2] && refusals[3]?.code == .busy)
        #expect(refusals[3]?.message.hasPrefix("heavyPerUIDMax 2 queries of uid") == true)
        #expect(await daemon.stop() == .exited(0))
    }

    @Test("a daemon in no cluster refuses a copy for another daemon, by name, and makes none")
    func copyForNode() async throws {
        let directory = TestDirectory()
        let daemon = try await daemon(in: directory)
        let path = directory.path("copy")
        let run = try await Reactorctl(daemon: daemon)("backup", path, "--node")
        #expect(run.code == 66 && run.errors.contains("in no cluster"), "\(run)")
        #expect(!FileManager.default.fileExists(atPath: path))
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
