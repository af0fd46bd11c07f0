import ReactorCore
import StockReactors
import Testing

@testable import ReactorClient

@Suite("Sessions that outlive their program", .timeLimit(.minutes(10)))
struct PersistedSessionTests {
    private typealias Counter = StockReactors.Counter

    private func options(_ session: [UInt8]) -> ClientOptions {
        var options = ClientOptions()
        options.session = session
        return options
    }

    @Test("C88: a program that returns with its session continues its ordinals")
    func goesOn() throws {
        let rig = Rig()
        let crashed = rig.client()
        let node = try crashed.open("/visits", rig)
        for _ in 0..<5 { try crashed.machine.dispatch(Counter.Action.increment(), to: node) }
        rig.run()
        let session = try #require(crashed.machine.welcome?.session)
        rig.crash(crashed)
        let back = rig.client(options(session))
        var outcomes: [ActionOutcome] = []
        // An action sent before the welcome must also get an ordinal after the last one.
        back.machine.open("/visits") { result in
            guard let node = try? result.get() else { return }
            try? back.machine.dispatch(Counter.Action.increment(by: 10), to: node) {
                outcomes.append($0)
            }
        }
        rig.run()
        #expect(back.machine.welcome?.isResumed == true)
        #expect(outcomes.map { $0.revision?.sequence } == [6])
        #expect(try rig.count(at: "/visits") == 15)
    }

    @Test("C88: actions that wait for the first welcome are numbered after the session's last")
    func waiting() throws {
        let rig = Rig()
        let crashed = rig.client()
        let node = try crashed.open("/visits", rig)
        for _ in 0..<3 { try crashed.machine.dispatch(Counter.Action.increment(), to: node) }
        rig.run()
        let session = try #require(crashed.machine.welcome?.session)
        rig.crash(crashed)
        let back = rig.client(options(session))
        back.machine.open("/visits") { _ in }
        var outcomes: [ActionOutcome] = []
        for amount in [10, 100] as [Int64] {
            try back.machine.dispatch(Counter.Action.increment(by: amount), to: node) {
                outcomes.append($0)
            }
        }
        rig.run()
        #expect(outcomes.map { $0.revision?.sequence } == [4, 5])
        #expect(try rig.count(at: "/visits") == 113)
    }

    @Test("C88: a second program with the same session is refused with SESSION_BUSY")
    func busy() async throws {
        let server = try LiveServer()
        let first = try await Client.connect(to: server.path)
        let error = await #expect(throws: ClientError.self) {
            _ = try await Client.connect(
                to: server.path, options: options(first.welcome.session))
        }
        guard case .closed(.sessionBusy, _) = error else {
            Issue.record("expected SESSION_BUSY, got \(String(describing: error))")
            return
        }
        #expect(try await first.dispatch("/visits", Counter.Action.increment()).revision != nil)
        first.close()
    }
}
