import ReactorServer
import ReactorWire
import Testing

@testable import ReactorClient

struct ClientOptionsTests {
    /// The hello of a client with `options`.
    private func hello(_ options: ClientOptions) throws -> Hello {
        let machine = ClientMachine(options) { 0 }
        machine.start()
        machine.connected()
        let out = try #require(machine.takeOutgoing())
        let frame = try #require(try Frame.split(Array(out.bytes[out.range])).first)
        #expect(frame.kind == .hello && frame.header.number == Hello.magic)
        return try Hello(wireBytes: frame.body)
    }

    @Test("the client sends the program's name, at most 64 bytes of it")
    func program() throws {
        #expect(try hello(ClientOptions(program: "tests")).program == "tests")
        for name in [String(repeating: "x", count: 65), String(repeating: "\u{1F600}", count: 30)] {
            let sent = try hello(ClientOptions(program: name)).program
            #expect(sent.utf8.count <= 64 && sent.utf8.count > 50)
        }
        let exact = String(repeating: "y", count: 64)
        #expect(try hello(ClientOptions(program: exact)).program == exact)
    }

    @Test("the client gives up after the deadline of the handshake")
    func handshakeDeadline() {
        var options = ClientOptions()
        options.handshakeDeadline = 77
        let machine = ClientMachine(options) { 0 }
        var error: ClientError?
        machine.start { if case .failure(let failure) = $0 { error = failure } }
        machine.connected()
        #expect(machine.takeOutputs() == [.connect, .setTimer(77)])
        machine.timerFired()
        #expect(error == .unanswered("no welcome within the handshake deadline"))
    }

    @Test("a client may keep fewer actions under way than the daemon allows")
    func window() throws {
        let rig = Rig()
        var options = ClientOptions()
        options.inFlightMax = 3
        let client = rig.client(options)
        _ = try client.open("/visits", rig)
        #expect(client.machine.figures.window == 3)
        let eager = rig.client()
        _ = try eager.open("/visits", rig)
        #expect(eager.machine.figures.window == ServerLimits().inFlightMax)
    }
}
