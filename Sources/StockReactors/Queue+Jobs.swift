public import ReactorCore

extension Queue {
    /// A job that waits, or was set aside.
    @WireCodable
    public struct Job: Equatable, Sendable {
        /// Its number; each job has a higher one than those before.
        public var id: UInt64
        /// What is to be done, as it was pushed.
        public var job: WireValue
        /// How often it failed.
        public var failures: Int = 0

        /// Makes a job that waits.
        public init(id: UInt64, job: WireValue, failures: Int = 0) {
            self.id = id
            self.job = job
            self.failures = failures
        }
    }

    /// A worker, as the kernel says.
    @WireCodable
    public struct Client: Equatable, Sendable {
        /// Number of its connection.
        public var connection: UInt64
        /// Its user.
        public var uid: UInt32
        /// Its process.
        public var pid: Int32

        /// Names a worker.
        public init(connection: UInt64, uid: UInt32, pid: Int32) {
            self.connection = connection
            self.uid = uid
            self.pid = pid
        }

        init(_ caller: Caller) {
            self.init(connection: caller.connection, uid: caller.uid, pid: caller.pid)
        }
    }

    /// A job that somebody works on.
    @WireCodable
    public struct Claim: Equatable, Sendable {
        /// What is to be done, as it was pushed.
        public var job: WireValue
        /// How often it failed before.
        public var failures: Int
        /// Who works on it.
        public var client: Client

        /// Makes a job that is worked on.
        public init(job: WireValue, failures: Int, client: Client) {
            self.job = job
            self.failures = failures
            self.client = client
        }
    }
}

extension Queue.State {
    /// Moves the first job that waits to those that are worked on.
    mutating func claimFirst(for client: Queue.Client) {
        guard let first = waiting.first else { return }
        waiting.removeFirst()
        claimed[first.id] = Queue.Claim(
            job: first.job, failures: first.failures, client: client)
    }

    /// Moves claimed jobs back to the front of those that wait.
    ///
    /// That is no failure, because a worker that went away says nothing of the job.
    mutating func takeBack(_ ids: [UInt64]) {
        var returning: [Queue.Job] = []
        for id in ids {
            guard let claim = claimed.removeValue(forKey: id) else { continue }
            returning.append(Queue.Job(id: id, job: claim.job, failures: claim.failures))
        }
        waiting.prepend(returning)
    }
}
