import Foundation
import ReactorCore
import StockReactors
import TestPrograms
import Testing

@testable import ReactorClient

/// A program with a journal that is killed in the middle of its work.
@Suite("A client that crashes", .timeLimit(.minutes(10)))
struct ClientCrashTests {
    @Test("C88: a program killed again and again has each action of its file applied once")
    func killed() async throws {
        let server = try LiveServer()
        let directory = TestDirectory()
        let journal = directory.path("pending")
        var random = Seed(UInt64.random(in: .min ... .max))
        var kept: UInt64 = 0
        for run in 0..<6 {
            let before = try state(journal)
            // Each program must be killed at another point of its work.
            let end = 60 + random.next() % 400
            let writer = try start(server, journal, ["\(end)"], directory, "run\(run)")
            #expect(await writer.ended() == .killed(signal: SIGKILL), "\(writer.errors)")
            let start = before.last == 0 ? 0 : before.last + Outbox.ordinalsPassedOver
            let last = try state(journal).last
            if last > start { kept += last - start }
        }
        let rest = try start(server, journal, [], directory, "rest")
        #expect(await rest.ended() == .exited(0), "\(rest.errors)")
        let client = try await Client.connect(to: server.path)
        let value = try await client.get("/visits/count").value
        #expect(kept > 300 && value == .integer(WireInteger(isNegative: false, magnitude: kept)))
        client.close()
    }

    private func state(_ path: String) throws -> PendingState {
        let bytes = FileManager.default.contents(atPath: path) ?? Data()
        return try PendingState(Array(bytes))
    }

    private func start(
        _ server: LiveServer, _ journal: String, _ end: [String], _ directory: TestDirectory,
        _ name: String
    ) throws -> ChildProcess {
        try ChildProcess(
            Built.product("client-writer"), [server.path, journal] + end, in: directory,
            name: name)
    }
}
