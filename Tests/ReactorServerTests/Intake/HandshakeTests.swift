import ReactorBytes
import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

/// Hello and goodbye, tested without a server.
struct HandshakeTests {
    private func greet(
        _ bench: OrganBench, _ hello: Hello, _ connection: Connection
    ) -> Handshake.Greeting {
        let body = hello.wireBytes()
        return bench.handshake.greet(body.span, of: connection)
    }

    private func code(_ greeting: Handshake.Greeting) -> FaultCode? {
        switch greeting {
        case .welcomed: nil
        case .failed(let code, _): code
        case .otherVersion: .version
        }
    }

    @Test("a client gets a session, keeps it after its connection, and ends it with goodbye")
    func session() throws {
        let bench = try OrganBench()
        let first = OrganBench.connection(2)
        #expect(code(greet(bench, Hello(), first)) == nil && first.isOpen)
        let secret = try #require(first.session).secret
        let welcome = try #require(bench.endTurn().first).decode(Welcome.self)
        #expect(welcome.session == secret && !welcome.isResumed && welcome.daemon == "bench")
        let second = OrganBench.connection(3)
        #expect(code(greet(bench, Hello(session: secret), second)) == .sessionBusy)
        bench.handshake.leave(first, at: 5)
        #expect(first.session == nil)
        #expect(code(greet(bench, Hello(session: secret), second)) == nil)
        #expect(second.session?.secret == secret)
        bench.handshake.sayGoodbye(second)
        #expect(second.session == nil && bench.sessions.find(secret, uid: 5) == nil)
    }

    @Test("a second hello, another version and a short secret are faults")
    func faults() throws {
        let bench = try OrganBench()
        #expect(code(greet(bench, Hello(), bench.connection)) == .state)
        let fresh = OrganBench.connection(2)
        #expect(code(greet(bench, Hello(versionMin: 900, versionMax: 901), fresh)) == .version)
        #expect(code(greet(bench, Hello(session: [1, 2]), fresh)) == .decode)
        let cut: [UInt8] = [0xa1]
        #expect(code(bench.handshake.greet(cut.span, of: fresh)) == .decode)
        #expect(fresh.isGreeting && fresh.session == nil)
    }

    @Test("a session without actions waits a minute for its client")
    func blank() throws {
        let bench = try OrganBench()
        bench.handshake.leave(bench.connection, at: 1_000)
        let time = Handshake.blankSessionNanoseconds
        bench.handshake.forgetBlank(at: time + 1_000)
        #expect(bench.sessions.count == 1)
        bench.handshake.forgetBlank(at: time + 1_001)
        #expect(bench.sessions.count == 0)
    }
}
