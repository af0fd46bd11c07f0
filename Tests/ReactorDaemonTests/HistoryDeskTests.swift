import Foundation
import ReactorClient
import ReactorWire
import TestPrograms
import Testing

@testable import ReactorDaemon

/// How much of the past is looked into at a time.
@Suite("HistoryDesk", .timeLimit(.minutes(10)))
struct HistoryDeskTests {
    private func daemon(in directory: TestDirectory) async throws -> DaemonProcess {
        try await DaemonProcess.start(
            config: "data:\n  directory: \(directory.path("data"))\n"
                + "reactors:\n  visits: { kind: counter }\n", in: directory)
    }

    @Test("two connections with eight waiting questions each shut nobody out of the log")
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
            // because it is asked behind them on its own connection, it is the last of those
            _ = try? await clients[1].log("/visits")
            for _ in 1...3 {
                let result = try? await reactorctl("log", "/visits")
                #expect(result?.code == 0)
            }
            for client in clients { client.close() }
        }
        #expect(await daemon.stop() == .exited(0))
    }

    @Test("exports that skip states and name no revision are answered, and give their places back")
    func exports() async throws {
        let directory = TestDirectory()
        let daemon = try await daemon(in: directory)
        let client = try await Client.connect(to: daemon.socketPath)
        for _ in 1...HistoryDesk.heavyMax + 1 {
            let page = try await client.export("/", skip: 1)
            #expect(page.nodes.map(\.path) == ["/visits"] && page.next == nil)
        }
        client.close()
        #expect(await daemon.stop() == .exited(0))
    }
}
