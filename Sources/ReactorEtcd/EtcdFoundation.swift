#if Cluster
    package import ReactorCluster
    import ReactorLoop

    /// Reads the base of a cluster in etcd, or founds the cluster, through the member of this
    /// machine.
    ///
    ///     let foundation = EtcdFoundation(socket: path, keys: ClusterKeys(name: "house"))
    ///     let base = try foundation.read() ?? foundation.found(own)
    ///
    /// *Place*: before the daemon's loop runs and its ``EtcdLog`` opens.
    /// *Owner*: any thread that runs no tasks. A call blocks it until etcd answers, at most until
    /// the deadline, and turns a loop of the call.
    ///
    /// A call without an answer is repeated on another connection until the deadline, since etcd
    /// may still start or elect a leader. So is a call that etcd answers with an error.
    package struct EtcdFoundation: Sendable {
        private let path: String
        private let requests: EtcdRequests
        private let deadline: Duration

        /// Prepares the calls for the base below `keys`, in the member that accepts clients at the
        /// socket at `path`. Each call ends after `deadline`.
        package init(
            socket path: String, keys: ClusterKeys, deadline: Duration = .seconds(10)
        ) {
            self.path = path
            requests = EtcdRequests(keys: keys)
            self.deadline = deadline
        }

        /// The cluster's base; nil if no node has founded the cluster.
        package func read() throws(EtcdFoundationError) -> ClusterOrigin? {
            try base(in: answer(to: requests.readBase))
        }

        /// The names of all clusters that were founded in this etcd, in order.
        package func clusters() throws(EtcdFoundationError) -> [String] {
            let answer = try answer(to: EtcdRequests.readClusters)
            do { return try EtcdAnswers.clusters(answer) } catch {
                throw .unusable(socket: path, reason: error.description)
            }
        }

        /// Stores `base` if the cluster has none. Returns the cluster's base: `base` if this call
        /// stored it, or an earlier one whose answer was lost; otherwise that of another node.
        ///
        /// *Throws*: after an error, `base` may be stored nevertheless, also later.
        package func found(_ base: ClusterOrigin) throws(EtcdFoundationError) -> ClusterOrigin {
            let answer = try answer(to: requests.found(base))
            if answer.succeeded { return base }
            guard let stored = try self.base(in: answer) else {
                throw .unusable(
                    socket: path,
                    reason: EtcdAnswerFault.unexpected("no base where there is one").description)
            }
            return stored
        }

        private func base(
            in answer: EtcdTxnResponse
        ) throws(EtcdFoundationError) -> ClusterOrigin? {
            do { return try EtcdAnswers.base(answer) } catch {
                throw .unusable(socket: path, reason: error.description)
            }
        }

        /// The answer to `request`. Blocks the calling thread.
        private func answer(
            to request: EtcdTxnRequest
        ) throws(EtcdFoundationError) -> EtcdTxnResponse {
            let loop: EventLoop
            let attempts: FoundationAttempts
            do throws(LoopError) {
                loop = try EventLoop()
                attempts = try FoundationAttempts(request, to: path, within: deadline, on: loop)
            } catch {
                throw .silent(socket: path, within: deadline, reason: "\(error)")
            }
            defer { loop.close() }
            return try attempts.run()
        }
    }

    /// The reason why the base of a cluster is not known.
    package enum EtcdFoundationError: Error, Equatable, Sendable {
        /// The member at the socket did not answer within the time.
        case silent(socket: String, within: Duration, reason: String)
        /// The member answered, but did not carry out the transaction within the time.
        case undecided(socket: String, within: Duration, reason: String)
        /// The stored base, or the answer, cannot be decoded. A repetition does not help.
        case unusable(socket: String, reason: String)
    }

    extension EtcdFoundationError: CustomStringConvertible {
        package var description: String {
            switch self {
            case .silent(let socket, let time, let reason):
                "etcd at \(socket): no answer within \(time) (\(reason)); start the etcd member of "
                    + "this machine, or correct the path of its socket"
            case .undecided(let socket, let time, let reason):
                "etcd at \(socket): the member answers, but did not read or store the cluster's "
                    + "base within \(time) (\(reason)); check that a majority of the etcd members "
                    + "run and reach each other, and that none of them is full"
            case .unusable(let socket, let reason): "etcd at \(socket): \(reason)"
            }
        }
    }

    /// Connects and sends a transaction until etcd answers it, or the time is over.
    private struct FoundationAttempts {
        /// Maximum time of a call: a call on a connection that ended unnoticed has no answer.
        private static let callTime = Duration.nanoseconds(EngineLimits.answerDeadline)
        private static let pause = Duration.milliseconds(50)

        private let path: String
        private let request: EtcdTxnRequest
        private let deadline: Duration
        private let loop: EventLoop
        private let timer: LoopTimer

        init(
            _ request: EtcdTxnRequest, to path: String, within deadline: Duration,
            on loop: EventLoop
        ) throws(LoopError) {
            self.request = request
            self.path = path
            self.deadline = deadline
            self.loop = loop
            timer = try LoopTimer(on: loop)
        }

        func run() throws(EtcdFoundationError) -> EtcdTxnResponse {
            let end = ContinuousClock.now + deadline
            var obstacle: EtcdFoundationError?
            while true {
                do throws(EtcdFoundationError) {
                    return try attempt(until: end)
                } catch {
                    let now = ContinuousClock.now
                    // The end of the time may have cut this attempt short, so that an earlier one
                    // says more.
                    let cause = now < end ? error : obstacle ?? error
                    guard now + Self.pause < end else {
                        wait(max(.zero, now.duration(to: end)))
                        throw cause
                    }
                    obstacle = cause
                }
                wait(Self.pause)
            }
        }

        private func attempt(
            until end: ContinuousClock.Instant
        ) throws(EtcdFoundationError) -> EtcdTxnResponse {
            let connection: EtcdConnection
            do throws(EtcdFailure) {
                connection = try EtcdConnection(to: path, on: loop)
                _ = try connection.answer(
                    to: .status, EtcdStatusRequest(), within: Self.time(until: end)
                ).get()
            } catch {
                throw .silent(socket: path, within: deadline, reason: error.reason)
            }
            do throws(EtcdFailure) {
                return try connection.answer(
                    to: .transaction, request, within: Self.time(until: end)
                ).get()
            } catch {
                throw .undecided(socket: path, within: deadline, reason: error.reason)
            }
        }

        private func wait(_ time: Duration) {
            timer.start(after: time)
            while timer.isStarted { loop.turn(.wait) }
        }

        /// The time for a call that begins now.
        private static func time(until end: ContinuousClock.Instant) -> Duration {
            max(.zero, min(callTime, ContinuousClock.now.duration(to: end)))
        }
    }
#endif
