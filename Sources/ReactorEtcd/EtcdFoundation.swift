#if Cluster
    package import ReactorCluster
    import ReactorThreads

    /// Reads the base of a cluster in etcd, or founds the cluster, through the member of this
    /// machine.
    ///
    ///     let foundation = EtcdFoundation(socket: path, keys: ClusterKeys(name: "house"))
    ///     let base = try foundation.read() ?? foundation.found(own)
    ///
    /// *Place*: before the daemon's loop runs and its ``EtcdLog`` opens.
    /// *Owner*: any thread that runs no tasks. A call blocks it until etcd answers, at most until
    /// the deadline; tasks carry out the call meanwhile.
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
            let attempts = FoundationAttempts(path: path, request: request, deadline: deadline)
            let bell = Bell()
            let result = Guarded<FoundationResult?>(nil)
            Task {
                let found = await attempts.run()
                result.withLock { $0 = found }
                bell.ring()
            }
            while true {
                bell.wait()
                if let result = result.withLock({ $0 }) { return try result.get() }
            }
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

    private typealias FoundationResult = Result<EtcdTxnResponse, EtcdFoundationError>

    /// Connects and sends a transaction until etcd answers it, or the time is over.
    private struct FoundationAttempts: Sendable {
        /// Maximum time of a call: a call on a connection that ended unnoticed has no answer.
        private static let callTime = Duration.nanoseconds(EngineLimits.answerDeadline)
        private static let pause = Duration.milliseconds(50)

        let path: String
        let request: EtcdTxnRequest
        let deadline: Duration

        func run() async -> FoundationResult {
            let end = ContinuousClock.now + deadline
            var obstacle: EtcdFoundationError?
            while true {
                switch await attempt(until: end) {
                case .success(let answer): return .success(answer)
                case .failure(let error):
                    let now = ContinuousClock.now
                    // The end of the time may have cut this attempt short, so that an earlier one
                    // says more.
                    let told = now < end ? error : obstacle ?? error
                    guard now + Self.pause < end else {
                        try? await Task.sleep(until: end, clock: .continuous)
                        return .failure(told)
                    }
                    obstacle = told
                }
                try? await Task.sleep(for: Self.pause)
            }
        }

        private func attempt(until end: ContinuousClock.Instant) async -> FoundationResult {
            switch await EtcdConnection.open(path, within: Self.time(until: end)) {
            case .success(let (connection, _)):
                let answer = await connection.call(
                    .transaction, request, within: Self.time(until: end))
                return answer.mapError {
                    .undecided(socket: path, within: deadline, reason: $0.reason)
                }
            case .failure(let failure):
                return .failure(.silent(socket: path, within: deadline, reason: failure.reason))
            }
        }

        /// The time for a call that begins now.
        private static func time(until end: ContinuousClock.Instant) -> Duration {
            max(.zero, min(callTime, ContinuousClock.now.duration(to: end)))
        }
    }
#endif
