#if Cluster
    import GRPCCore
    import GRPCNIOTransportHTTP2Posix
    import GRPCProtobuf
    import ReactorThreads
    import SwiftProtobuf

    /// A connection to one etcd member, over the Unix socket at which it accepts clients.
    ///
    /// *Place*: carries the calls of an ``EtcdLog``, which replaces it after a failure. Calls may
    /// overlap; etcd carries them out in any order.
    /// *Owner*: any task. Releasing the last reference ends the connection and all its calls.
    final class EtcdConnection: Sendable {
        /// Maximum bytes of an answer. etcd splits the answers of a watch at 2 MiB, and other
        /// answers have at most one entry and a few reports.
        static let answerBytesMax = 16 << 20

        /// Maximum calls on one HTTP/2 connection. etcd answers each call with a PING as well, and
        /// SwiftNIO ends a connection with more than 200 PINGs in 30 seconds.
        private static let callsMax = 150

        /// The HTTP/2 connections for the next calls and for the former ones. A call may begin some
        /// time after it has chosen its connection, so a connection is retired only when its
        /// successor is replaced.
        private let wires: Guarded<(current: EtcdWire, former: EtcdWire?)>
        private let path: String

        /// Begins to connect to the socket at `path`, and tries until it succeeds.
        private init(to path: String) throws {
            self.path = path
            wires = Guarded((try EtcdWire(to: path), nil))
        }

        /// The HTTP/2 connection for a call; another one after ``callsMax`` calls.
        private func wireForCall() throws -> EtcdWire {
            try wires.withLock { wires in
                if wires.current.calls == Self.callsMax {
                    let next = try EtcdWire(to: path)
                    wires.former?.retire()
                    wires = (next, wires.current)
                }
                wires.current.calls += 1
                return wires.current
            }
        }

        /// Connects to the member that accepts clients at the socket at `path`. Returns once the
        /// member has answered, with its status.
        static func open(
            _ path: String, within time: Duration
        ) async -> Result<(EtcdConnection, EtcdStatusResponse), EtcdFailure> {
            do {
                let connection = try EtcdConnection(to: path)
                let answer = await connection.call(.status, EtcdStatusRequest(), within: time)
                return answer.map { (connection, $0) }
            } catch {
                return .failure(EtcdFailure(error))
            }
        }

        deinit { close() }

        /// Ends the connection and all its calls.
        func close() {
            wires.withLock { wires in
                wires.current.cancel()
                wires.former?.cancel()
            }
        }

        /// Sends `request` and returns the answer.
        func call<Request: Message, Answer: Message>(
            _ call: EtcdCall<Request, Answer>, _ request: Request, within time: Duration
        ) async -> Result<Answer, EtcdFailure> {
            var options = Self.options
            options.timeout = time
            do {
                let answer = try await wireForCall().client.unary(
                    request: ClientRequest(message: request), descriptor: call.descriptor,
                    serializer: ProtobufSerializer<Request>(),
                    deserializer: ProtobufDeserializer<Answer>(), options: options,
                    onResponse: { try $0.message })
                return .success(answer)
            } catch {
                return .failure(EtcdFailure(error))
            }
        }

        /// Watches keys, and calls `take` with each answer, in order. Reads the next answer when
        /// `take` has returned, so that etcd waits for a slow owner.
        ///
        /// Returns when the watch has ended; nil if etcd ended it without an error.
        func watch(
            _ request: EtcdWatchCreateRequest,
            _ take: @escaping @Sendable (EtcdWatchResponse) async -> Void
        ) async -> EtcdFailure? {
            do {
                // A watch gets few answers with a PING, and lasts longer than the connections of
                // calls.
                let wire = try EtcdWire(to: path)
                defer { wire.cancel() }
                return try await wire.client.bidirectionalStreaming(
                    request: StreamingClientRequest { writer in
                        try await writer.write(.with { $0.createRequest = request })
                        // etcd ends the watches of a client that has nothing more to send.
                        while true { try await Task.sleep(for: .seconds(3_600)) }
                    },
                    descriptor: EtcdCall.watch.descriptor,
                    serializer: ProtobufSerializer<EtcdWatchRequest>(),
                    deserializer: ProtobufDeserializer<EtcdWatchResponse>(),
                    options: Self.options
                ) { response in
                    for try await answer in response.messages { await take(answer) }
                    return nil
                }
            } catch {
                return EtcdFailure(error)
            }
        }

        private static var options: CallOptions {
            var options = CallOptions.defaults
            options.maxResponseMessageBytes = answerBytesMax
            options.maxRequestMessageBytes = answerBytesMax
            return options
        }
    }

    /// One HTTP/2 connection of an ``EtcdConnection``.
    private struct EtcdWire {
        let client: GRPCClient<HTTP2ClientTransport.Posix>
        private let running: Task<Void, Never>
        /// The calls that were made on it.
        var calls = 0

        init(to path: String) throws {
            let transport = try HTTP2ClientTransport.Posix(
                // The name of the host is part of each request, and a path cannot be one.
                target: .unixDomainSocket(path: path, authority: "localhost"),
                transportSecurity: .plaintext, config: Self.config)
            let client = GRPCClient(transport: transport)
            self.client = client
            // Each call reports the reason why it failed, so this error has no further use.
            running = Task { try? await client.runConnections() }
        }

        /// Ends the connection when its calls are answered.
        func retire() { client.beginGracefulShutdown() }

        /// Ends the connection and its calls.
        func cancel() { running.cancel() }

        private static var config: HTTP2ClientTransport.Posix.Config {
            .defaults { config in
                // This initialiser leaves out the delay in which gRPC collects writes.
                config.connection = HTTP2ClientTransport.Config.Connection(
                    maxIdleTime: .seconds(3_600), keepalive: nil)
                config.backoff = HTTP2ClientTransport.Config.Backoff(
                    initial: .milliseconds(20), max: .milliseconds(500), multiplier: 1.6,
                    jitter: 0.2)
            }
        }
    }

    /// A call of etcd's interface, with the messages that it takes and returns.
    struct EtcdCall<Request: Message, Answer: Message>: Sendable {
        let descriptor: MethodDescriptor

        fileprivate init(_ service: String, _ method: String) {
            descriptor = MethodDescriptor(
                fullyQualifiedService: "etcdserverpb.\(service)", method: method)
        }
    }

    extension EtcdCall where Request == EtcdTxnRequest, Answer == EtcdTxnResponse {
        /// Reads and sets keys, depending on conditions.
        static var transaction: Self { Self("KV", "Txn") }
    }

    extension EtcdCall where Request == EtcdCompactionRequest, Answer == EtcdCompactionResponse {
        /// Discards old revisions.
        static var compaction: Self { Self("KV", "Compact") }
    }

    extension EtcdCall where Request == EtcdWatchRequest, Answer == EtcdWatchResponse {
        /// Reports changes of keys as they happen.
        static var watch: Self { Self("Watch", "Watch") }
    }

    extension EtcdCall where Request == EtcdStatusRequest, Answer == EtcdStatusResponse {
        /// Describes the member, which answers by itself.
        static var status: Self { Self("Maintenance", "Status") }
    }
#endif
