#if Cluster
    package import ReactorCluster
    package import ReactorLoop
    import ReactorThreads

    /// The log of a cluster in etcd, through the member of this machine.
    ///
    ///     let log = try EtcdLog(socket: path, keys: ClusterKeys(name: "house"), on: loop)
    ///     log.onEvent = { event in machine.receive(event) }
    ///     log.open()
    ///
    /// *Place*: beneath the cluster's machine. Each call is one request to etcd. Its answer arrives in
    /// a job of the loop's turn that has received it.
    /// *Owner*: the loop's thread.
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
        private let deadline: Duration
        private let loop: EventLoop
        /// Due when the log tries again to connect.
        private let timer: LoopTimer
        private var link = EtcdLink.closed
        private var watching = EtcdWatch()
        /// Whether a connection is made again after its end.
        private var isWanted = false
        /// Whether the obstacle to the present attempts is reported.
        private var isObstacleReported = false
        /// Counts connections, so that events of former ones are recognised.
        private var linkNumber: UInt64 = 0
        /// The calls without an answer, in the order in which they were made.
        private var unanswered: [EngineCallKind] = []
        /// What the turn's job does.
        private var due: [(EtcdLog) -> Void] = []

        private static let pause = Duration.milliseconds(50)

        /// Prepares a log below `keys`, in the member that accepts clients at the socket at `path`.
        package init(
            socket path: String, keys: ClusterKeys,
            deadline: Duration = .nanoseconds(EngineLimits.answerDeadline), on loop: EventLoop
        ) throws(LoopError) {
            self.path = path
            self.requests = EtcdRequests(keys: keys)
            self.deadline = deadline
            self.loop = loop
            timer = try LoopTimer(on: loop)
            timer.onFire = { [weak self] in self?.connect() }
        }

        deinit {
            timer.close()
            switch link {
            case .connecting(let connection): connection?.close()
            case .up(let connection): connection.close()
            case .closed, .ending: break
            }
        }

        /// Begins to connect, and does so after each end of the connection, until ``close()``.
        package func open() {
            isWanted = true
            guard case .closed = link else { return }
            begin()
        }

        /// Ends the connection; calls without an answer are reported as unknown.
        package func close() {
            isWanted = false
            switch link {
            case .closed, .ending: break
            case .connecting:
                timer.stop()
                linkNumber += 1
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
                list(.compact)
                connection.call(
                    .compaction, requests.compaction(upTo: position), within: deadline,
                    handler { log, result in log.finishCompaction(result) })
            case .announce, .look, .confirm, .append, .beat, .takeOver, .vacate:
                guard let request = requests.transaction(for: call) else { return }
                list(call.kind)
                connection.call(
                    .transaction, request, within: deadline,
                    handler { log, result in log.finish(call, result) })
            }
        }

        /// Lists a call as unanswered.
        private func list(_ kind: EngineCallKind) {
            precondition(
                !unanswered.contains(kind), "\(kind) is sent before the last one was answered")
            unanswered.append(kind)
        }

        // MARK: - The turn's job

        /// A handler for the present connection, which calls `body` in the turn's job. Later
        /// connections have another number, and what former ones report is dropped.
        private func handler<Value>(
            _ body: @escaping (EtcdLog, Value) -> Void
        ) -> (Value) -> Void {
            let number = linkNumber
            return { [weak self] value in
                self?.later { log in if log.linkNumber == number { body(log, value) } }
            }
        }

        private var answers: EtcdAnswers { EtcdAnswers(keys: requests.keys) }

        /// Calls `work` in a job of this turn: the daemon counts the time of jobs, and the owner may
        /// be in the middle of a call.
        private func later(_ work: @escaping (EtcdLog) -> Void) {
            due.append(work)
            guard due.count == 1 else { return }
            let owner = Confined(WeakLog(self))
            loop.post { owner.open().log?.runDueWork() }
        }

        private func runDueWork() {
            let work = due
            due = []
            for work in work { work(self) }
        }

        // MARK: - The connection

        private func begin() {
            isObstacleReported = false
            connect()
        }

        private func connect() {
            linkNumber += 1
            do throws(EtcdFailure) {
                let connection = try EtcdConnection(to: path, on: loop)
                link = .connecting(connection)
                connection.onEnd = handler { log, failure in log.retry(after: failure) }
                connection.call(
                    .status, EtcdStatusRequest(), within: deadline,
                    handler { log, result in log.begin(result) })
            } catch {
                link = .connecting(nil)
                let failure = error
                handler { log, _ in log.retry(after: failure) }(())
            }
        }

        private func begin(_ result: Result<EtcdStatusResponse, EtcdFailure>) {
            guard case .connecting(let connection?) = link else { return }
            switch result {
            case .success(let status):
                member = EtcdMember(status)
                link = .up(connection)
                connection.onEnd = handler { log, failure in
                    log.reconnect(after: failure, of: "the connection")
                }
                onEvent?(.up)
            case .failure(let failure): retry(after: failure)
            }
        }

        private func retry(after failure: EtcdFailure) {
            guard case .connecting = link else { return }
            // The status of the same attempt may fail as well.
            linkNumber += 1
            link = .connecting(nil)
            timer.start(after: Self.pause)
            guard !isObstacleReported else { return }
            isObstacleReported = true
            onObstacle?("etcd at \(path): \(failure.reason); trying again")
        }

        /// Ends the connection: reports every call without an answer, then the end. Connects again
        /// unless the log was closed.
        private func end(_ connection: EtcdConnection, _ reason: String) {
            // Later answers have another number, and are dropped.
            linkNumber += 1
            link = .ending
            watching.end()
            connection.close()
            // The owner gets the end last, and may make further calls before that.
            while let kind = unanswered.first {
                unanswered.removeFirst()
                onEvent?(.unknown(kind, .disconnected))
            }
            link = .closed
            onEvent?(.down(reason))
            if isWanted, case .closed = link { begin() }
        }

        private func reconnect(after failure: EtcdFailure, of call: String) {
            guard failure.endsConnection, case .up(let connection) = link else { return }
            end(connection, "etcd at \(path): \(call): \(failure.reason); connecting again")
        }

        // MARK: - Calls

        private func finish(_ call: EngineCall, _ result: Result<EtcdTxnResponse, EtcdFailure>) {
            guard answer(call.kind) else { return }
            switch result {
            case .success(let answer):
                do throws(EtcdAnswerFault) {
                    onEvent?(try answers.event(for: call, answer))
                } catch {
                    if case .damaged(let error) = error { onEvent?(.damaged(error)) }
                    onEvent?(.unknown(call.kind, .error(error.description)))
                }
            case .failure(let failure): fail(call.kind, failure)
            }
        }

        private func finishCompaction(_ result: Result<EtcdCompactionResponse, EtcdFailure>) {
            guard answer(.compact) else { return }
            switch result {
            // The history may already be compacted up to there, or further.
            case .success, .failure(.compacted): onEvent?(.trimmed)
            case .failure(let failure): fail(.compact, failure)
            }
        }

        private func fail(_ kind: EngineCallKind, _ failure: EtcdFailure) {
            onEvent?(.unknown(kind, failure.outage))
            reconnect(after: failure, of: "\(kind)")
        }

        /// Takes a call off the list; false if it was reported already.
        private func answer(_ kind: EngineCallKind) -> Bool {
            guard let index = unanswered.firstIndex(of: kind) else { return false }
            unanswered.remove(at: index)
            return true
        }

        // MARK: - The watch

        private func watch(after position: LogPosition, _ connection: EtcdConnection) {
            unwatch()
            let number = watching.number
            watching.stream = connection.watch(
                requests.watch(after: position),
                handler { log, result in log.take(result, number) })
        }

        private func unwatch() {
            let stream = watching.stream
            watching.end()
            if let stream, case .up(let connection) = link { connection.endWatch(stream) }
        }

        private func take(_ result: Result<EtcdWatchResponse, EtcdFailure>, _ number: UInt64) {
            guard number == watching.number else { return }
            switch result {
            case .success(let answer): take(answer, number)
            case .failure(let failure):
                unwatch()
                if failure.endsConnection {
                    reconnect(after: failure, of: "the watch")
                } else {
                    onEvent?(.watchEnded(failure.reason))
                }
            }
        }

        private func take(_ answer: EtcdWatchResponse, _ number: UInt64) {
            do throws(EtcdAnswerFault) {
                // The owner may end the watch while it handles an event.
                for event in try answers.events(answer) where number == watching.number {
                    if event.endsWatch { unwatch() }
                    onEvent?(event)
                }
            } catch {
                unwatch()
                if case .damaged(let error) = error { onEvent?(.damaged(error)) }
                onEvent?(.watchEnded(error.description))
            }
        }
    }

    /// The state of the connection.
    private enum EtcdLink {
        case closed
        /// Connecting; nil between two attempts.
        case connecting(EtcdConnection?)
        case up(EtcdConnection)
        /// The connection ended, and the event is not yet reported.
        case ending
    }

    /// The watch of a log.
    private struct EtcdWatch {
        /// The stream of the watch; nil while there is none.
        var stream: Int32?
        /// Counts watches, so that answers of former ones are recognised.
        private(set) var number: UInt64 = 0

        mutating func end() {
            stream = nil
            number += 1
        }
    }

    /// A log that the turn's job does not keep alive.
    private final class WeakLog {
        weak var log: EtcdLog?
        init(_ log: EtcdLog) { self.log = log }
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
