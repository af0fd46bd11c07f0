import ReactorBytes
import ReactorCore
import ReactorWire
import Testing

@testable import ReactorClient

/// Requests and nodes, tested alone: no connection, no daemon.
struct RequestsTests {
    private static func opened(_ number: UInt64) -> Frame {
        Frame(
            .opened, number: number,
            Opened(reactor: "Counter", fingerprint: 1, sequence: 0).wireBytes())
    }

    private static func refused(_ number: UInt64) -> Frame {
        Frame(.refused, number: number, Refusal(.notFound, "gone").wireBytes())
    }

    private func receive(
        _ frame: Frame, _ requests: inout Requests
    ) throws -> Requests.Answer {
        try requests.receive(
            try #require(frame.kind), frame.header, frame.body.span)
    }

    /// Opens a node with the daemon's answer; returns its number.
    private func open(_ path: String, _ requests: inout Requests) throws -> NodeID {
        guard case .needsRequest(let index) = requests.open(path, countMax: 8, then: { _ in })
        else {
            throw ClientError.ended
        }
        var writer = WireWriter()
        requests.sendOpen(index, to: &writer)
        let frame = try #require(try Frame.split(writer.bytes).first)
        #expect(frame.kind == .open && frame.id == index)
        guard
            case .node(let completions, .success(let node)) = try receive(
                Self.opened(frame.number), &requests)
        else { throw ClientError.ended }
        #expect(completions.count == 1)
        return node
    }

    @Test("the first call requests a node, the others wait with it, and then it is known")
    func openOnce() throws {
        var requests = Requests(answerBytesMax: 100)
        let first = requests.open("/a", countMax: 8, then: { _ in })
        let second = requests.open("/a", countMax: 8, then: { _ in })
        #expect(first == .needsRequest(0) && second == .pending)
        var writer = WireWriter()
        requests.sendOpen(0, to: &writer)
        guard
            case .node(let completions, .success(let node)) = try receive(
                Self.opened(1), &requests)
        else {
            Issue.record("the node is not open")
            return
        }
        #expect(completions.count == 2 && requests.reactorName(of: node) == "Counter")
        #expect(requests.open("/a", countMax: 8, then: { _ in }) == .open(node))
        #expect(throws: ClientFault.self) { try receive(Self.opened(1), &requests) }
    }

    @Test("a node that is gone keeps its number, and is requested again")
    func stale() throws {
        var requests = Requests(answerBytesMax: 100)
        let node = try open("/a", &requests)
        requests.invalidate(from: "/")
        let again = requests.open("/a", countMax: 8, then: { _ in })
        #expect(again == .needsRequest(node.rawValue))
        var writer = WireWriter()
        requests.sendOpen(node.rawValue, to: &writer)
        guard case .node(_, .failure) = try receive(Self.refused(2), &requests) else {
            Issue.record("the node was not refused")
            return
        }
        #expect(requests.path(of: node.rawValue) == "/a")
    }

    @Test("a lost connection forgets requests for nodes and slices, and repeats questions")
    func loseConnection() throws {
        var requests = Requests(answerBytesMax: 100)
        _ = requests.open("/a", countMax: 8, then: { _ in })
        var writer = WireWriter()
        requests.sendOpen(0, to: &writer)
        let question = requests.ask(.tree, then: { _ in })
        let ping = requests.ping(then: { _ in })
        requests.loseConnection()
        writer.removeAll()
        requests.sendQuestions(to: &writer)
        requests.sendOpens(to: &writer) { $0 == "/a" }
        let frames = try Frame.split(writer.bytes)
        #expect(frames.map(\.kind) == [.ask, .ping, .open])
        #expect(frames.map(\.number) == [question, ping, 4])
        #expect(throws: ClientFault.self) { try receive(Self.opened(1), &requests) }
        var errors: [ClientError] = []
        for call in requests.takeAll() { call(.ended) }
        _ = requests.ask(.tree) { if case .failure(let error) = $0 { errors.append(error) } }
        for call in requests.takeAll() { call(.cancelled) }
        #expect(errors == [.cancelled])
    }

    @Test("an answer in parts is joined, within its limit")
    func parts() throws {
        var requests = Requests(answerBytesMax: 3)
        let number = requests.ask(.tree, then: { _ in })
        var part = Frame(.answer, number: number, [])
        part.header.flags = .more
        guard case .announced(number) = try receive(part, &requests) else {
            Issue.record("an empty part announces the answer")
            return
        }
        part.body = [1, 2]
        part.header.length = 2
        guard case .none = try receive(part, &requests) else {
            Issue.record("a part is no answer")
            return
        }
        guard
            case .answer(_, .success(let bytes)) = try receive(
                Frame(.answer, number: number, [3]), &requests)
        else {
            Issue.record("the last part is the answer")
            return
        }
        #expect(bytes == [1, 2, 3])
        let other = requests.ask(.tree, then: { _ in })
        #expect(throws: ClientFault.self) {
            try receive(Frame(.answer, number: other, [1, 2, 3, 4]), &requests)
        }
    }

    @Test("an answer of another kind than the request's is a fault of the daemon")
    func mismatch() {
        var requests = Requests(answerBytesMax: 100)
        let number = requests.ping(then: { _ in })
        #expect(throws: ClientFault.self) { try receive(Self.opened(number), &requests) }
    }
}
