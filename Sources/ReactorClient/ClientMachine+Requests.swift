public import ReactorCore

/// A node, as a client's connections number it.
public struct NodeID: Hashable, Sendable {
    @usableFromInline let rawValue: UInt32
}

/// A node that a client has opened or is about to.
struct NodeEntry {
    let path: String
    var state = State.opening
    /// The reactor's type, as the daemon names it.
    var reactor = ""
    var waiters: [(Result<NodeID, ClientError>) -> Void] = []

    enum State {
        case opening
        case open
    }
}

/// Something that was asked and is to be answered.
enum Request {
    case open(UInt32)
    case subscribe(Subscription)
    case ask(Ask, parts: [UInt8], then: (Result<[UInt8], ClientError>) -> Void)
    case ping(then: (Result<Void, ClientError>) -> Void)
}

// MARK: - Asking
extension ClientMachine {
    /// Makes the node at `path` addressable, once for all that ask.
    public func open(
        _ path: String, then completion: @escaping (Result<NodeID, ClientError>) -> Void
    ) {
        if case .ended(let error) = stage { return completion(.failure(error)) }
        guard !path.isEmpty else {
            return completion(.failure(.refused(Refusal(.path, "the path is empty"))))
        }
        let path = Self.canonical(path)
        if let index = nodesByPath[path] {
            guard nodes[Int(index)].state == .open else {
                nodes[Int(index)].waiters.append(completion)
                return
            }
            return completion(.success(NodeID(rawValue: index)))
        }
        let index = UInt32(nodes.firstIndex { $0.path.isEmpty } ?? nodes.count)
        let entry = NodeEntry(path: path, waiters: [completion])
        if index < nodes.count { nodes[Int(index)] = entry } else { nodes.append(entry) }
        nodesByPath[path] = index
        if stage == .live { sendOpen(index) }
    }

    /// The type of the reactor at an open node, as the daemon names it.
    func reactorName(of node: NodeID) -> String { nodes[Int(node.rawValue)].reactor }

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
        let frame = outgoing.beginFrame(.open, id: index, number: newRequest(.open(index)))
        Open(path: nodes[Int(index)].path).encode(into: &outgoing)
        outgoing.endFrame(at: frame)
    }

    /// Opens on a new connection what was open on the last.
    func reopen() {
        for index in nodes.indices
        where !nodes[index].path.isEmpty && !isUnleased(nodes[index].path) {
            sendOpen(UInt32(index))
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
        let waiters = nodes.flatMap(\.waiters)
        for index in nodes.indices { nodes[index].waiters = [] }
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
            try noteOpened(index, body)
        case (.subscribe(let subscription), .subscribed):
            requests[header.number] = nil
            try noteSubscribed(subscription, header, body)
        case (.ask(let ask, var parts, let completion), .answer):
            guard parts.count + body.count <= options.stagedBytesMax else {
                throw ClientFault("an answer of more than \(options.stagedBytesMax) bytes")
            }
            parts.append(contentsOf: body, 0..<body.count)
            guard !header.flags.contains(.more) else {
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

    private func noteOpened(_ index: UInt32, _ body: Span<UInt8>) throws(ClientFault) {
        guard Int(index) < nodes.count else { return }
        do throws(WireError) {
            nodes[Int(index)].reactor = try Opened(wireBytes: body).reactor
        } catch {
            throw ClientFault("opened: \(error)")
        }
        nodes[Int(index)].state = .open
        let waiters = nodes[Int(index)].waiters
        nodes[Int(index)].waiters = []
        for waiter in waiters { waiter(.success(NodeID(rawValue: index))) }
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
        case .subscribe(let subscription): remove(subscription, because: .refused(refusal))
        case .open(let index):
            let entry = nodes[Int(index)]
            // because actions may still be under way to a node that was open before: its number
            // is not given to another
            if entry.state == .opening {
                nodesByPath[entry.path] = nil
                nodes[Int(index)] = NodeEntry(path: "")
            }
            for waiter in entry.waiters { waiter(.failure(.refused(refusal))) }
        }
    }
}
