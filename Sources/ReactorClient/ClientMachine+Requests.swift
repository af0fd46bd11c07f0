public import ReactorCore

/// A node, as a client's connections number it.
public struct NodeID: Hashable, Sendable {
    @usableFromInline let rawValue: UInt32
}

/// Something that was asked and is to be answered.
enum Request {
    case open(UInt32)
    /// `isContinued` says whether the daemon was told what is known already.
    case subscribe(Subscription, isContinued: Bool)
    case ask(Ask, parts: [UInt8], then: (Result<[UInt8], ClientError>) -> Void)
    case ping(then: (Result<Void, ClientError>) -> Void)
}

// MARK: - Asking
extension ClientMachine {
    /// Makes the node at `path` addressable, once for all that ask.
    ///
    /// The number stands for the path, whatever comes to stand there, until it is given back by
    /// ``release(_:)-(NodeID)`` as often as this gave it.
    public func open(
        _ path: String, then completion: @escaping (Result<NodeID, ClientError>) -> Void
    ) {
        if case .ended(let error) = stage { return completion(.failure(error)) }
        guard !path.isEmpty else {
            return completion(.failure(.refused(Refusal(.path, "the path is empty"))))
        }
        for node in board.returns.take() { release(node) }
        let path = Self.canonical(path)
        let index =
            nodes.index(of: path)
            ?? nodes.add(path, countMax: welcome.map { Int($0.limits.nodesMax) } ?? .max)
        let entry = nodes[index]
        nodes.hold(index)
        if entry?.state == .open { return completion(.success(NodeID(rawValue: index))) }
        nodes[index]?.waiters.append(completion)
        // because the first who waits is the one who asks
        guard entry?.waiters.isEmpty ?? true else { return }
        if entry?.state == .stale { nodes[index]?.state = .reopening }
        if stage == .live { sendOpen(index) }
    }

    /// Gives back a number that ``open(_:then:)`` gave: it may stand for another path from now on.
    ///
    /// *Owner*: whoever asked for it, and has no action to it without an outcome.
    public func release(_ node: NodeID) { nodes.giveBack(node.rawValue) }

    /// Makes the node at `path` addressable for as long as what `completion` is handed is held.
    package func hold(
        _ path: String, then completion: @escaping (Result<NodeHold, ClientError>) -> Void
    ) {
        open(path) { [returns = board.returns] result in
            completion(result.map { NodeHold($0, returns) })
        }
    }

    /// The type of the reactor at an open node, as the daemon names it.
    func reactorName(of node: NodeID) -> String { nodes[node.rawValue]?.reactor ?? "" }

    /// Asks a question; the answer's bytes are one CBOR item, or what ``Ask`` says.
    public func ask(
        _ ask: Ask, then completion: @escaping (Result<[UInt8], ClientError>) -> Void
    ) {
        if case .ended(let error) = stage { return completion(.failure(error)) }
        let number = newRequest(.ask(ask, parts: [], then: completion))
        if stage == .live { send(ask, number) }
    }

    /// Asks for a sign of life, which also brings every mirror up to date.
    public func ping(then completion: @escaping (Result<Void, ClientError>) -> Void) {
        if case .ended(let error) = stage { return completion(.failure(error)) }
        let number = newRequest(.ping(then: completion))
        if stage == .live { outgoing.header(FrameHeader(kind: .ping, number: number)) }
    }

    /// The one spelling of a path that has several; a path that is none stays as it is.
    static func canonical(_ path: String) -> String {
        (try? SlicePath(path))?.description ?? path
    }

    func newRequest(_ request: Request) -> UInt64 {
        lastRequest += 1
        requests[lastRequest] = request
        return lastRequest
    }

    private func send(_ ask: Ask, _ number: UInt64) {
        let frame = outgoing.beginFrame(.ask, number: number)
        ask.encode(into: &outgoing)
        outgoing.endFrame(at: frame)
    }

    func sendOpen(_ index: UInt32) {
        guard let path = nodes[index]?.path else { return }
        let request = newRequest(.open(index))
        nodes[index]?.request = request
        let frame = outgoing.beginFrame(.open, id: index, number: request)
        Open(path: path).encode(into: &outgoing)
        outgoing.endFrame(at: frame)
    }

    /// Opens on a new connection what was open on the last and somebody holds.
    func reopen() {
        for node in board.returns.take() { release(node) }
        for index in nodes.indices {
            guard let entry = nodes[index] else { continue }
            if entry.holderCount == 0 {
                nodes.spoil(index)
            } else if !isUnleased(entry.path) {
                sendOpen(index)
            }
        }
    }

    /// Asks on a new connection what the last one did not answer.
    func askAgain() {
        for (number, request) in requests.sorted(by: { $0.key < $1.key }) {
            switch request {
            case .ask(let ask, _, let completion):
                requests[number] = .ask(ask, parts: [], then: completion)
                send(ask, number)
            case .ping: outgoing.header(FrameHeader(kind: .ping, number: number))
            case .open, .subscribe: break
            }
        }
    }

    /// Forgets requests that a new connection makes anew.
    func dropConnectionRequests() {
        requests = requests.filter { entry in
            switch entry.value {
            case .open, .subscribe: false
            case .ask, .ping: true
            }
        }
    }

    func failRequests(_ error: ClientError) {
        let unanswered = requests.sorted { $0.key < $1.key }
        requests = [:]
        for (_, request) in unanswered {
            switch request {
            case .ask(_, _, let completion): completion(.failure(error))
            case .ping(let completion): completion(.failure(error))
            case .open, .subscribe: break
            }
        }
        let waiters = nodes.indices.flatMap { nodes[$0]?.waiters ?? [] }
        for index in nodes.indices { nodes[index]?.waiters = [] }
        for waiter in waiters { waiter(.failure(error)) }
    }
}

// MARK: - Answers
extension ClientMachine {
    /// The daemon answered, or refused, a request.
    func noteReply(
        _ kind: FrameKind, _ header: FrameHeader, _ body: Span<UInt8>
    ) throws(ClientFault) {
        guard let request = requests[header.number] else {
            throw ClientFault("a \(kind) frame for request \(header.number), which is not open")
        }
        if kind == .refused { return try noteRefusal(request, header, body) }
        switch (request, kind) {
        case (.open(let index), .opened):
            requests[header.number] = nil
            try noteOpened(index, header.number, body)
        case (.subscribe(let subscription, let isContinued), .subscribed):
            requests[header.number] = nil
            try noteSubscribed(subscription, isContinued: isContinued, header, body)
        case (.ask(let ask, var parts, let completion), .answer):
            guard parts.count + body.count <= options.stagedBytesMax else {
                throw ClientFault("an answer of more than \(options.stagedBytesMax) bytes")
            }
            parts.append(contentsOf: body, 0..<body.count)
            guard !header.flags.contains(.more) else {
                if parts.isEmpty { noteAnnouncement(header.number) }
                requests[header.number] = .ask(ask, parts: parts, then: completion)
                return
            }
            requests[header.number] = nil
            completion(.success(parts))
        case (.ping(let completion), .pong):
            requests[header.number] = nil
            completion(.success(()))
        default: throw ClientFault("a \(kind) frame that answers another request")
        }
    }

    private func noteOpened(
        _ index: UInt32, _ request: UInt64, _ body: Span<UInt8>
    ) throws(ClientFault) {
        let reactor: String
        do throws(WireError) {
            reactor = try Opened(wireBytes: body).reactor
        } catch {
            throw ClientFault("opened: \(error)")
        }
        // because the number may have been asked for again, maybe for another path
        guard let entry = nodes[index], entry.request == request else { return }
        nodes[index]?.reactor = reactor
        nodes[index]?.state = .open
        nodes[index]?.waiters = []
        for waiter in entry.waiters { waiter(.success(NodeID(rawValue: index))) }
    }

    private func noteUnopened(_ index: UInt32, _ request: UInt64, _ refusal: Refusal) {
        guard let entry = nodes[index], entry.request == request else { return }
        nodes[index]?.waiters = []
        if entry.state == .opening {
            nodes.remove(index)
        } else {
            // because actions may still be under way to a node that was open before: its number
            // is not given to another
            nodes[index]?.state = .stale
            for _ in entry.waiters { nodes.giveBack(index) }
        }
        for waiter in entry.waiters { waiter(.failure(.refused(refusal))) }
    }

    private func noteRefusal(
        _ request: Request, _ header: FrameHeader, _ body: Span<UInt8>
    ) throws(ClientFault) {
        let refusal: Refusal
        do throws(WireError) {
            refusal = try Refusal(wireBytes: body)
        } catch {
            throw ClientFault("refusal: \(error)")
        }
        requests[header.number] = nil
        switch request {
        case .ask(_, _, let completion): completion(.failure(.refused(refusal)))
        case .ping(let completion): completion(.failure(.refused(refusal)))
        case .subscribe(let subscription, _):
            remove(subscription, because: .refused(refusal))
        case .open(let index): noteUnopened(index, header.number, refusal)
        }
    }
}
