import ReactorBytes
import ReactorCore

/// The requests that the daemon has not answered, and the nodes that the client has opened.
///
/// It numbers the requests, writes their frames to a writer of the caller, repeats them on a new
/// connection, and returns the completions of an answer. It calls nothing back.
///
/// *Place*: a part of ``ClientMachine``.
struct Requests: ~Copyable {
    typealias NodeCompletion = (Result<NodeID, ClientError>) -> Void
    typealias AnswerCompletion = (Result<[UInt8], ClientError>) -> Void
    typealias PingCompletion = (Result<Void, ClientError>) -> Void

    /// A request, with the completion that receives its answer.
    private enum Request {
        case open(UInt32)
        /// `isContinued` says that the request named a revision that the client has already.
        case subscribe(Subscription, isContinued: Bool)
        case ask(Question, parts: [UInt8], then: AnswerCompletion)
        case ping(then: PingCompletion)

        /// True if the next connection does not repeat it: it makes other requests.
        var isOfConnection: Bool {
            switch self {
            case .open, .subscribe, .ask(.types, _, _): true
            case .ask, .ping: false
            }
        }
    }

    private var last: UInt64 = 0
    private var unanswered: [UInt64: Request] = [:]
    private var nodes = NodeTable()
    /// Limit of one answer, in bytes; a daemon that exceeds it is at fault.
    private let answerBytesMax: Int

    init(answerBytesMax: Int) { self.answerBytesMax = answerBytesMax }

    /// The number of the next request.
    var nextNumber: UInt64 { last + 1 }
}

// MARK: - Nodes
extension Requests {
    /// The next step for the caller of ``open(_:countMax:then:)``.
    enum Opening: Equatable {
        /// The node has this number; the completion was not kept.
        case open(NodeID)
        /// The completion waits for an earlier request.
        case pending
        /// The completion waits for a request that the caller sends now, or with the next
        /// connection.
        case needsRequest(UInt32)
    }

    /// Holds the number, one of at most `countMax`, of the node at `path`, a canonical path.
    mutating func open(
        _ path: String, countMax: Int, then completion: @escaping NodeCompletion
    ) -> Opening {
        defer { invariants() }
        let index = nodes.index(of: path) ?? nodes.add(path, countMax: countMax)
        let entry = nodes[index]
        nodes.hold(index)
        if entry?.state == .open { return .open(NodeID(rawValue: index)) }
        nodes[index]?.waiters.append(completion)
        // Only the first completion in the list sends the request.
        guard entry?.waiters.isEmpty ?? true else { return .pending }
        if entry?.state == .stale { nodes[index]?.state = .reopening }
        return .needsRequest(index)
    }

    /// Releases a number that ``open(_:countMax:then:)`` held.
    mutating func release(_ node: NodeID) { nodes.giveBack(node.rawValue) }

    /// Assigns a number to a path as an earlier run did.
    mutating func restore(_ node: UInt32, _ path: String) { nodes.restore(node, path) }

    /// The path of a number.
    func path(of node: UInt32) -> String? { nodes[node]?.path }

    /// The type of the reactor at an open node, as the daemon names it.
    func reactorName(of node: NodeID) -> String { nodes[node.rawValue]?.reactor ?? "" }

    /// Marks a node as gone: the next caller that opens it asks the daemon.
    mutating func invalidate(_ node: UInt32) { nodes.invalidate(node) }

    /// Marks the nodes at and below `path` as gone.
    mutating func invalidate(from path: String) { nodes.invalidate(from: path) }

    /// Writes the request to open a node.
    mutating func sendOpen(_ index: UInt32, to writer: inout WireWriter) {
        guard let path = nodes[index]?.path else { return }
        let number = add(.open(index))
        nodes[index]?.request = number
        let frame = writer.beginFrame(.open, id: index, number: number)
        Open(path: path).encode(into: &writer)
        writer.endFrame(at: frame)
    }

    /// Writes the requests to open again the held nodes at the paths that `isWanted` accepts.
    mutating func sendOpens(to writer: inout WireWriter, where isWanted: (String) -> Bool) {
        for index in nodes.indices {
            guard let entry = nodes[index], entry.holderCount > 0, isWanted(entry.path) else {
                continue
            }
            sendOpen(index, to: &writer)
        }
    }
}

// MARK: - Questions
extension Requests {
    private mutating func add(_ request: Request) -> UInt64 {
        last += 1
        unanswered[last] = request
        return last
    }

    /// Keeps a question and returns its number; with a connection, ``sendQuestion(_:to:)`` follows.
    mutating func ask(_ question: Question, then completion: @escaping AnswerCompletion) -> UInt64 {
        add(.ask(question, parts: [], then: completion))
    }

    /// Keeps a ping and returns its number; with a connection, ``sendQuestion(_:to:)`` follows.
    mutating func ping(then completion: @escaping PingCompletion) -> UInt64 {
        add(.ping(then: completion))
    }

    /// Writes the request to subscribe to a slice.
    mutating func subscribe(
        _ subscription: Subscription, _ wish: Subscribe, to writer: inout WireWriter
    ) {
        let number = add(.subscribe(subscription, isContinued: wish.from != nil))
        let frame = writer.beginFrame(.subscribe, number: number)
        wish.encode(into: &writer)
        writer.endFrame(at: frame)
    }

    /// Writes the frame of a question or a ping; its answer starts from the beginning.
    mutating func sendQuestion(_ number: UInt64, to writer: inout WireWriter) {
        switch unanswered[number] {
        case .ask(let question, _, let completion):
            unanswered[number] = .ask(question, parts: [], then: completion)
            let frame = writer.beginFrame(.ask, number: number)
            question.encode(into: &writer)
            writer.endFrame(at: frame)
        case .ping: writer.header(FrameHeader(kind: .ping, number: number))
        case .open, .subscribe, nil: break
        }
    }

    /// Writes again, in order, the questions that the last connection did not answer.
    mutating func sendQuestions(to writer: inout WireWriter) {
        let repeated = unanswered.filter { !$0.value.isOfConnection }
        for number in repeated.keys.sorted() { sendQuestion(number, to: &writer) }
    }

    /// Handles a lost connection: the next one opens nodes, asks for types and subscribes with new
    /// requests.
    mutating func loseConnection() {
        defer { invariants() }
        unanswered = unanswered.filter { !$0.value.isOfConnection }
    }

    /// After the welcome of a new connection: nodes without holders have to be opened again.
    mutating func invalidateIdle() {
        for index in nodes.indices where nodes[index]?.holderCount == 0 { nodes.invalidate(index) }
    }

    /// Moves out every completion that waits for an answer, in the order of the requests.
    mutating func takeAll() -> [(ClientError) -> Void] {
        defer { invariants() }
        var calls: [(ClientError) -> Void] = []
        for (_, request) in unanswered.sorted(by: { $0.key < $1.key }) {
            switch request {
            case .ask(_, _, let completion): calls.append { completion(.failure($0)) }
            case .ping(let completion): calls.append { completion(.failure($0)) }
            case .open, .subscribe: break
            }
        }
        unanswered = [:]
        for index in nodes.indices {
            for waiter in nodes[index]?.waiters ?? [] { calls.append { waiter(.failure($0)) } }
            nodes[index]?.waiters = []
        }
        return calls
    }
}

// MARK: - Answers
extension Requests {
    /// What an answer means for the client.
    enum Answer {
        /// No completion waits for the answer.
        case none
        case node([NodeCompletion], Result<NodeID, ClientError>)
        case answer(AnswerCompletion, Result<[UInt8], ClientError>)
        case pong(PingCompletion, Result<Void, ClientError>)
        case subscribed(Subscription, isContinued: Bool, Subscribed)
        case unsubscribed(Subscription, Refusal)
        /// The answer to this question will be as of the next mark.
        case announced(UInt64)
    }

    /// Takes the daemon's answer to a request, or its refusal.
    mutating func receive(
        _ kind: FrameKind, _ header: FrameHeader, _ body: Span<UInt8>
    ) throws(ClientFault) -> Answer {
        guard let request = unanswered[header.number] else {
            throw ClientFault("a \(kind) frame for request \(header.number), which is not open")
        }
        defer { invariants() }
        switch (request, kind) {
        case (_, .refused):
            let refusal = try Self.read(Refusal.self, "refusal", body)
            unanswered[header.number] = nil
            return refuse(request, header.number, refusal)
        case (.open(let index), .opened):
            let opened = try Self.read(Opened.self, "opened", body)
            unanswered[header.number] = nil
            return open(index, header.number, opened)
        case (.subscribe(let subscription, let isContinued), .subscribed):
            let subscribed = try Self.read(Subscribed.self, "subscribed", body)
            unanswered[header.number] = nil
            return .subscribed(subscription, isContinued: isContinued, subscribed)
        case (.ask(let question, var parts, let completion), .answer):
            guard parts.count + body.count <= answerBytesMax else {
                throw ClientFault("an answer of more than \(answerBytesMax) bytes")
            }
            parts.append(contentsOf: body, 0..<body.count)
            guard header.flags.contains(.more) else {
                unanswered[header.number] = nil
                return .answer(completion, .success(parts))
            }
            unanswered[header.number] = .ask(question, parts: parts, then: completion)
            return parts.isEmpty ? .announced(header.number) : .none
        case (.ping(let completion), .pong):
            unanswered[header.number] = nil
            return .pong(completion, .success(()))
        default: throw ClientFault("a \(kind) frame that answers another request")
        }
    }

    private static func read<Message: WireCodable>(
        _ type: Message.Type, _ name: String, _ body: Span<UInt8>
    ) throws(ClientFault) -> Message {
        do throws(WireError) {
            return try Message(wireBytes: body)
        } catch {
            throw ClientFault("\(name): \(error)")
        }
    }

    private mutating func open(_ index: UInt32, _ number: UInt64, _ opened: Opened) -> Answer {
        // Since the request, the number may have been requested for another path.
        guard let entry = nodes[index], entry.request == number else { return .none }
        nodes[index]?.reactor = opened.reactor
        nodes[index]?.state = .open
        nodes[index]?.waiters = []
        return .node(entry.waiters, .success(NodeID(rawValue: index)))
    }

    private mutating func refuse(
        _ request: Request, _ number: UInt64, _ refusal: Refusal
    ) -> Answer {
        switch request {
        case .ask(_, _, let completion): return .answer(completion, .failure(.refused(refusal)))
        case .ping(let completion): return .pong(completion, .failure(.refused(refusal)))
        case .subscribe(let subscription, _): return .unsubscribed(subscription, refusal)
        case .open(let index):
            guard let entry = nodes[index], entry.request == number else { return .none }
            nodes[index]?.waiters = []
            if entry.state == .opening {
                nodes.remove(index)
            } else {
                // Actions to a node that was open before may be under way: its number is not reused
                // for another path.
                nodes[index]?.state = .stale
                for _ in entry.waiters { nodes.giveBack(index) }
            }
            return .node(entry.waiters, .failure(.refused(refusal)))
        }
    }

    /// Traps in a debug build unless every request has a number below the next one, and only nodes
    /// that are not open have waiting completions.
    private func invariants() {
        assert(
            unanswered.count > 64 || unanswered.keys.allSatisfy { $0 > 0 && $0 <= last },
            "a request without a number")
        // Walking a long table at each verb would cost too much.
        assert(
            unanswered.count > 16
                || nodes.indices.prefix(64).allSatisfy { index in
                    nodes[index].map { $0.waiters.isEmpty || $0.state != .open } ?? true
                }, "a call waits for a node that is open")
    }
}
