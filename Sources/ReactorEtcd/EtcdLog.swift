#if Cluster
    package import ReactorCluster
    import ReactorThreads

    /// The log of a cluster in etcd, through the member of this machine.
    ///
    ///     let log = EtcdLog(socket: path, keys: ClusterKeys(name: "house"), post: loop.post)
    ///     log.onEvent = { event in machine.receive(event) }
    ///     log.open()
    ///
    /// *Place*: beneath the cluster's machine. Each call is one request to etcd, which a separate
    /// task sends; the answer arrives through `post`.
    /// *Owner*: the thread that `post` runs closures on, in order.
    ///
    /// After a call without an answer, the log reports every call on the connection as unknown,
    /// ends the connection, and opens another.
    package final class EtcdLog: LogEngine {
        package var onEvent: ((EngineEvent) -> Void)?
        /// Called with the reason when the log cannot connect; once until it has connected.
        package var onObstacle: ((String) -> Void)?
        /// The member at the last connection; nil before the first.
        package private(set) var member: EtcdMember?

        private let path: String
        private let requests: EtcdRequests
        private let post: @Sendable (@escaping @Sendable () -> Void) -> Void
        private let deadline: Duration
        private var link = EtcdLink.closed
        /// Whether a connection is made again after its end.
        private var isWanted = false
        /// Counts connections and watches, so that events of former ones are recognised.
        private var linkNumber: UInt64 = 0
        private var watchNumber: UInt64 = 0
        private var watching: Task<Void, Never>?
        /// The calls without an answer, in the order in which they were made.
        private var unanswered: [EngineCallKind] = []

        /// Prepares a log below `keys`, in the member that accepts clients at the socket at `path`.
        package init(
            socket path: String, keys: ClusterKeys,
            deadline: Duration = .nanoseconds(EngineLimits.answerDeadline),
            post: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
        ) {
            self.path = path
            self.requests = EtcdRequests(keys: keys)
            self.deadline = deadline
            self.post = post
        }

        deinit {
            watching?.cancel()
            if case .connecting(let task) = link { task.cancel() }
        }

        /// Begins to connect, and does so after each end of the connection, until ``close()``.
        package func open() {
            isWanted = true
            guard case .closed = link else { return }
            connect()
        }

        /// Ends the connection; calls without an answer are reported as unknown.
        package func close() {
            isWanted = false
            switch link {
            case .closed, .ending: break
            case .connecting(let task):
                task.cancel()
                link = .closed
            case .up(let connection): end(connection, "closed by this daemon")
            }
        }

        package func send(_ call: EngineCall) {
            switch link {
            case .up(let connection): send(call, on: connection)
            case .ending: if call.isAnswered { list(call.kind) }
            case .closed, .connecting:
                preconditionFailure("\(call.kind) is sent while etcd at \(path) is not connected")
            }
        }

        private func send(_ call: EngineCall, on connection: EtcdConnection) {
            switch call {
            case .watch(let position): watch(after: position, connection)
            case .unwatch: unwatch()
            case .compact(let position):
                let request = requests.compaction(upTo: position)
                let deadline = deadline
                run(call) {
                    let answer = await connection.call(.compaction, request, within: deadline)
                    return switch answer {
                    // The history may already be compacted up to there, or further.
                    case .success, .failure(.compacted): .success(.success(.trimmed))
                    case .failure(let failure): .failure(failure)
                    }
                }
            case .announce, .look, .append, .beat, .takeOver, .vacate:
                guard let request = requests.transaction(for: call) else { return }
                let answers = EtcdAnswers(keys: requests.keys)
                let deadline = deadline
                run(call) {
                    let answer = await connection.call(.transaction, request, within: deadline)
                    return answer.map { answer in
                        Result { () throws(EtcdAnswerFault) in
                            try answers.event(for: call, answer)
                        }
                    }
                }
            }
        }

        // MARK: - The connection

        private func connect() {
            linkNumber += 1
            let attempts = EtcdAttempts(
                path: path, deadline: deadline, number: linkNumber, owner: WeakLog(self), post: post
            )
            link = .connecting(Task { await attempts.run() })
        }

        fileprivate func begin(
            _ connection: EtcdConnection, _ status: EtcdStatusResponse, _ number: UInt64
        ) {
            guard number == linkNumber, case .connecting = link else { return }
            member = EtcdMember(status)
            link = .up(connection)
            onEvent?(.up)
        }

        fileprivate func report(_ obstacle: String, _ number: UInt64) {
            guard number == linkNumber, case .connecting = link else { return }
            onObstacle?(obstacle)
        }

        /// Ends the connection: reports every call without an answer, then the end. Connects again
        /// unless the log was closed.
        private func end(_ connection: EtcdConnection, _ reason: String) {
            // Later answers have another number, and are dropped.
            linkNumber += 1
            link = .ending
            unwatch()
            connection.close()
            // The owner gets the end last, and may make further calls before that.
            while !unanswered.isEmpty {
                onEvent?(.unknown(unanswered.removeFirst(), .disconnected))
            }
            link = .closed
            onEvent?(.down(reason))
            if isWanted, case .closed = link { connect() }
        }

        // MARK: - Calls

        private func run(
            _ call: EngineCall,
            _ body: @escaping @Sendable () async -> Result<EtcdResult, EtcdFailure>
        ) {
            let kind = call.kind
            list(kind)
            let owner = WeakLog(self)
            let (post, number) = (post, linkNumber)
            Task {
                switch await body() {
                case .success(let result): post { owner.open()?.finish(kind, result, number) }
                case .failure(let failure): post { owner.open()?.fail(kind, failure, number) }
                }
            }
        }

        /// Lists a call as unanswered.
        private func list(_ kind: EngineCallKind) {
            precondition(
                !unanswered.contains(kind), "\(kind) is sent before the last one was answered")
            unanswered.append(kind)
        }

        private func finish(_ kind: EngineCallKind, _ result: EtcdResult, _ number: UInt64) {
            guard answer(kind, number) else { return }
            switch result {
            case .success(let event): onEvent?(event)
            case .failure(let fault):
                if case .damaged(let error) = fault { onEvent?(.damaged(error)) }
                onEvent?(.unknown(kind, .error(fault.description)))
            }
        }

        private func fail(_ kind: EngineCallKind, _ failure: EtcdFailure, _ number: UInt64) {
            guard answer(kind, number) else { return }
            onEvent?(.unknown(kind, failure.outage))
            reconnect(after: failure, of: "\(kind)")
        }

        /// Takes a call off the list; false if it was reported already.
        private func answer(_ kind: EngineCallKind, _ number: UInt64) -> Bool {
            guard number == linkNumber, let index = unanswered.firstIndex(of: kind) else {
                return false
            }
            unanswered.remove(at: index)
            return true
        }

        private func reconnect(after failure: EtcdFailure, of call: String) {
            guard failure.endsConnection, case .up(let connection) = link else { return }
            end(connection, "etcd at \(path): \(call): \(failure.reason); connecting again")
        }

        // MARK: - The watch

        private func watch(after position: LogPosition, _ connection: EtcdConnection) {
            unwatch()
            let request = requests.watch(after: position)
            let answers = EtcdAnswers(keys: requests.keys)
            let owner = WeakLog(self)
            let (post, number) = (post, watchNumber)
            watching = Task {
                let end = await connection.watch(request) { answer in
                    let events = Result { () throws(EtcdAnswerFault) in try answers.events(answer) }
                    // The next answer is read when the owner has taken this one.
                    await withCheckedContinuation { continuation in
                        let turn = WatchTurn(continuation)
                        post { turn.run { owner.open()?.take(events, number) } }
                    }
                }
                post { owner.open()?.endWatch(end, number) }
            }
        }

        private func unwatch() {
            watchNumber += 1
            watching?.cancel()
            watching = nil
        }

        private func take(_ events: Result<[EngineEvent], EtcdAnswerFault>, _ number: UInt64) {
            switch events {
            case .success(let events):
                // The owner may end the watch while it handles an event.
                for event in events where number == watchNumber {
                    if event.endsWatch { unwatch() }
                    onEvent?(event)
                }
            case .failure(let fault):
                guard number == watchNumber else { return }
                unwatch()
                if case .damaged(let error) = fault { onEvent?(.damaged(error)) }
                onEvent?(.watchEnded(fault.description))
            }
        }

        private func endWatch(_ failure: EtcdFailure?, _ number: UInt64) {
            guard number == watchNumber else { return }
            unwatch()
            if let failure, failure.endsConnection {
                reconnect(after: failure, of: "the watch")
            } else {
                onEvent?(.watchEnded(failure?.reason ?? "etcd ended the stream"))
            }
        }
    }

    /// The answer to a call, or the reason why it cannot be used.
    private typealias EtcdResult = Result<EngineEvent, EtcdAnswerFault>

    /// The state of the connection.
    private enum EtcdLink {
        case closed
        case connecting(Task<Void, Never>)
        case up(EtcdConnection)
        /// The connection ended, and the event is not yet reported.
        case ending
    }

    /// Tries to connect to a member until it answers, and delivers the connection.
    private struct EtcdAttempts: Sendable {
        let path: String
        let deadline: Duration
        /// The number of the connection.
        let number: UInt64
        let owner: WeakLog
        let post: @Sendable (@escaping @Sendable () -> Void) -> Void

        func run() async {
            var isReported = false
            while !Task.isCancelled {
                switch await EtcdConnection.open(path, within: deadline) {
                case .success(let (connection, status)):
                    post { [owner, number] in owner.open()?.begin(connection, status, number) }
                    return
                case .failure(let failure):
                    let obstacle = "etcd at \(path): \(failure.reason); trying again"
                    if !isReported {
                        post { [owner, number] in owner.open()?.report(obstacle, number) }
                    }
                    isReported = true
                    try? await Task.sleep(for: .milliseconds(50))
                }
            }
        }
    }

    extension EngineCall {
        /// Whether an event answers the call.
        fileprivate var isAnswered: Bool {
            switch self {
            case .watch, .unwatch: false
            default: true
            }
        }
    }

    extension EngineEvent {
        /// Whether no further event of the same watch follows.
        fileprivate var endsWatch: Bool {
            switch self {
            case .compacted, .watchEnded: true
            default: false
            }
        }
    }

    /// The owner's log, passed through tasks, which do not keep it alive.
    private struct WeakLog: Sendable {
        private final class Reference {
            weak var log: EtcdLog?
            init(_ log: EtcdLog) { self.log = log }
        }
        private let reference: Confined<Reference>

        init(_ log: EtcdLog) { reference = Confined(Reference(log)) }

        /// The log; nil if it was released. *Owner*: the log's.
        func open() -> EtcdLog? { reference.open().log }
    }

    /// Resumes a watch when the owner has taken an answer, or has dropped it with all its jobs.
    private final class WatchTurn: Sendable {
        private let continuation: CheckedContinuation<Void, Never>

        init(_ continuation: CheckedContinuation<Void, Never>) {
            self.continuation = continuation
        }

        deinit { continuation.resume() }

        func run(_ body: () -> Void) { body() }
    }

    /// The status of a member.
    package struct EtcdMember: Equatable, Sendable {
        /// The member's number.
        package let id: UInt64
        /// The number of the member that led etcd; 0 if none did.
        package let leader: UInt64
        /// The version of etcd, such as "3.4.23".
        package let version: String
        /// Bytes of its file.
        package let fileBytes: Int64
        /// Faults that it reports, such as a full file.
        package let faults: [String]

        init(_ status: EtcdStatusResponse) {
            id = status.header.memberID
            leader = status.leader
            version = status.version
            fileBytes = status.dbSize
            faults = status.errors
        }
    }
#endif
