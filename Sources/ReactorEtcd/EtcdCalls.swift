#if Cluster
    import ReactorCluster
    import SwiftProtobuf

    /// The calls of a connection that have not ended, in the order in which they were made.
    ///
    /// *Shape*: a call with a deadline has one answer, which is reported when the call has ended; a
    /// call without deadline is a watch, whose answers are reported as they arrive.
    ///
    /// Each method returns the reports that its caller has to make, since a handler may use the
    /// connection.
    struct EtcdCalls {
        private var calls: [EtcdPendingCall] = []

        /// The earliest deadline.
        var nextDeadline: UInt64? { calls.lazy.compactMap(\.deadline).min() }

        mutating func add(_ call: EtcdPendingCall) { calls.append(call) }

        /// Removes a call without a report; nil if it has ended.
        @discardableResult
        mutating func remove(_ number: Int32) -> EtcdPendingCall? {
            calls.firstIndex { $0.number == number }.map { calls.remove(at: $0) }
        }

        /// Takes a message: the answer to a call, or a further answer of a watch.
        mutating func take(_ message: [UInt8], of number: Int32) -> (() -> Void)? {
            guard let index = calls.firstIndex(where: { $0.number == number }) else { return nil }
            guard calls[index].deadline == nil else {
                calls[index].answer = message
                return nil
            }
            let handler = calls[index].handler
            return { handler(.success(message)) }
        }

        /// Ends a call with its result.
        mutating func end(_ number: Int32, _ status: GRPCStatus) -> (() -> Void)? {
            guard let call = remove(number) else { return nil }
            guard status.code == .ok else {
                return { call.handler(.failure(EtcdFailure(status))) }
            }
            if let answer = call.answer { return { call.handler(.success(answer)) } }
            let reason = call.deadline == nil ? "etcd ended the stream" : "etcd answered nothing"
            return { call.handler(.failure(.outage(.error(reason), reason: reason))) }
        }

        /// Ends the call with the earliest deadline.
        mutating func failOldest(_ failure: EtcdFailure) -> (() -> Void)? {
            guard let deadline = nextDeadline,
                let index = calls.firstIndex(where: { $0.deadline == deadline })
            else { return nil }
            let call = calls.remove(at: index)
            return { call.handler(.failure(failure)) }
        }

        /// Ends all calls.
        mutating func failAll(_ failure: EtcdFailure) -> [() -> Void] {
            defer { calls = [] }
            return calls.map { call in { call.handler(.failure(failure)) } }
        }
    }

    /// A call that has not ended.
    struct EtcdPendingCall {
        /// The number of its stream; nil if the connection did not take the call.
        let number: Int32?
        /// When the call counts as unanswered, in the loop's time; nil for a watch.
        let deadline: UInt64?
        /// The message that has arrived before the result.
        fileprivate(set) var answer: [UInt8]?
        let handler: (Result<[UInt8], EtcdFailure>) -> Void

        init(
            number: Int32?, deadline: UInt64?,
            _ handler: @escaping (Result<[UInt8], EtcdFailure>) -> Void
        ) {
            self.number = number
            self.deadline = deadline
            self.handler = handler
        }
    }

    /// A method of etcd's interface, with the messages that it takes and returns.
    struct EtcdCall<Request: Message, Answer: Message>: Sendable {
        /// The path of the request, as gRPC defines it.
        let path: String

        fileprivate init(_ service: String, _ method: String) {
            path = "/etcdserverpb.\(service)/\(method)"
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
