import Foundation
import ReactorClient
import ReactorWire
import TestPrograms
import Testing

@testable import ReactorDaemon

/// How much of the past is looked into at a time.
@Suite("HistoryDesk", .timeLimit(.minutes(10)))
struct HistoryDeskTests {
    @Test("so many questions about the log wait at a time, from all clients, and make room again")
    func logs() async throws {
        let directory = TestDirectory()
        let daemon = try await DaemonProcess.start(
            config: "data:\n  directory: \(directory.path("data"))\n"
                + "reactors:\n  visits: { kind: counter }\n", in: directory)
        var clients: [Client] = []
        for _ in 1...3 { clients.append(try await Client.connect(to: daemon.socketPath)) }
        await withTaskGroup(of: ClientError?.self) { group in
            for client in clients {
                for _ in 1...8 {
                    group.addTask {
                        do throws(ClientError) {
                            _ = try await client.log("/visits", waits: true)
                            return nil
                        } catch {
                            return error
                        }
                    }
                }
            }
            let most = HistoryDesk.logsMax
            for _ in 0..<24 - most {
                guard case .refused(let refusal)?? = await group.next() else {
                    Issue.record("more than \(most) wait")
                    break
                }
                #expect(refusal.code == .busy)
            }
            for client in clients { client.close() }
        }
        let reactorctl = Reactorctl(daemon: daemon)
        var code: Int32 = 75
        while code == 75 { code = try await reactorctl("log", "/visits").code }
        #expect(code == 0)
        #expect(await daemon.stop() == .exited(0))
    }
}
