public import ReactorCore

/// Jobs, each done by one of many workers.
///
/// A worker claims the first job, and finishes or fails it. A job whose worker's connection ends
/// returns to the front. A failed job returns to the back; after the third failure it moves to
/// `failed`.
///
/// Rejections: `full` for `push` beyond the capacity, `too_large` for a job of more than 64 KiB,
/// `empty` for `claim` without a waiting job, `unknown_job` for `finish` and `fail` of a job that
/// is not claimed, `not_yours` for a job that another connection has claimed.
@Reactor
public struct Queue {
    /// Maximum capacity of a queue.
    public static let capacityMax = 1_000_000
    /// Default capacity of a queue.
    public static let capacityDefault = 100_000
    /// Maximum size of a job, in encoded bytes.
    public static let jobBytesMax = 64 << 10
    /// Number of failures after which a job moves to `failed`.
    public static let failuresMax = 3
    /// Maximum number of failed jobs that are kept; a further one drops the oldest.
    public static let failedMax = 1_000

    /// Maximum number of waiting and claimed jobs.
    public let capacity: Int

    /// *Traps* unless `capacity` is 1 to ``capacityMax``.
    public init(capacity: Int = Queue.capacityDefault) {
        precondition(
            1...Self.capacityMax ~= capacity,
            "queue: capacity \(capacity) is not 1 to \(Self.capacityMax)")
        self.capacity = capacity
    }

    /// The actions of a queue.
    public enum Action: Equatable, Sendable {
        /// Adds a job at the back.
        case push(job: WireValue)
        /// Claims the first job for the caller's connection, and replies with its id and data.
        case claim
        /// Ends the job that the caller has claimed: it is done.
        case finish(id: UInt64)
        /// Returns the job that the caller has claimed, as failed.
        case fail(id: UInt64)
    }

    /// The mutations of a queue.
    public enum Mutation: Equatable, Sendable {
        /// Adds a job at the back.
        case pushed(id: UInt64, job: WireValue)
        /// Claims the first job.
        case claimed(by: Client)
        /// Removes a claimed job, which is done.
        case finished(id: UInt64)
        /// Moves a claimed job to the back, with one more failure.
        case retried(id: UInt64)
        /// Moves a claimed job to `failed`.
        case setAside(id: UInt64)
        /// Moves claimed jobs to the front, in this order.
        case returned(ids: [UInt64])
    }

    /// The reply to `claim`.
    public struct Reply: Equatable, Sendable {
        /// Number of the job, for `finish` and `fail`.
        public var id: UInt64
        /// The job's data, as pushed.
        public var job: WireValue

        /// Makes a reply.
        public init(id: UInt64, job: WireValue) {
            self.id = id
            self.job = job
        }
    }

    /// The state of a queue.
    @ReactorState
    public struct State: Equatable, Sendable {
        /// Jobs without a worker, the next one first.
        public var waiting: SlidingArray<Job> = []
        /// Claimed jobs, by their numbers.
        public var claimed: Keyed<UInt64, Claim> = [:]
        /// Jobs that failed too often, the latest last.
        public var failed: SlidingArray<Job> = []
        /// Number of the last pushed job.
        public var lastID: UInt64 = 0

        /// Makes an empty state.
        public init() {}
    }

    public func mutate(
        action: Action, state: State, context: ReactorContext<Self>
    ) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .push(let job):
            return try push(job, state)
        case .claim:
            return try claim(state, context)
        case .finish(let id):
            try checkClaim(id, state, context)
            context.disown(id, connection: context.caller.connection)
            return Mutations(.finished(id: id))
        case .fail(let id):
            let claim = try checkClaim(id, state, context)
            context.disown(id, connection: context.caller.connection)
            let isLast = claim.failures + 1 >= Self.failuresMax
            return Mutations(isLast ? .setAside(id: id) : .retried(id: id))
        }
    }

    public func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .pushed(let id, let job):
            state.lastID = id
            state.waiting.append(Job(id: id, job: job))
        case .claimed(let client):
            state.claimFirst(for: client)
        case .finished(let id):
            state.claimed.removeValue(forKey: id)
        case .retried(let id):
            guard let claim = state.claimed.removeValue(forKey: id) else { return }
            state.waiting.append(Job(id: id, job: claim.job, failures: claim.failures + 1))
        case .setAside(let id):
            guard let claim = state.claimed.removeValue(forKey: id) else { return }
            state.failed.append(Job(id: id, job: claim.job, failures: claim.failures + 1))
            state.failed.removeFirst(state.failed.count - Self.failedMax)
        case .returned(let ids):
            state.takeBack(ids)
        }
    }

    public func connectionEnded(
        _ owned: OwnedKeys, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        let ids = owned.keys(as: UInt64.self).filter { id in
            state.claimed[id]?.client.connection == owned.connection
        }
        return ids.isEmpty ? .none : Mutations(.returned(ids: ids.sorted()))
    }
}

extension Queue {
    private func push(_ job: WireValue, _ state: State) throws(Rejection) -> Mutations<Mutation> {
        try job.check(bytesMax: Self.jobBytesMax, "the job")
        guard state.waiting.count + state.claimed.count < capacity else {
            throw Rejection("full", "the queue holds its \(capacity) jobs: let workers claim some")
        }
        return Mutations(.pushed(id: state.lastID + 1, job: job))
    }

    private func claim(
        _ state: State, _ context: ReactorContext<Self>
    ) throws(Rejection) -> Mutations<Mutation> {
        try context.refusePreview()
        guard let first = state.waiting.first else {
            throw Rejection("empty", "no job waits: claim again when the queue has changed")
        }
        context.own(first.id)
        context.reply(Reply(id: first.id, job: first.job))
        return Mutations(.claimed(by: Client(context.caller)))
    }

    /// Checks that the caller has claimed job `id`.
    @discardableResult
    private func checkClaim(
        _ id: UInt64, _ state: State, _ context: ReactorContext<Self>
    ) throws(Rejection) -> Claim {
        try context.refusePreview()
        guard let claim = state.claimed[id] else {
            throw Rejection(
                "unknown_job",
                "no claimed job \(id): it was ended, or returned to the queue with its connection")
        }
        guard claim.client.connection == context.caller.connection else {
            throw Rejection(
                "not_yours",
                "job \(id) is claimed by process \(claim.client.pid) on another connection")
        }
        return claim
    }
}

extension Queue {
    /// A waiting or failed job.
    @WireCodable
    @MemberwiseInit
    public struct Job: Equatable, Sendable {
        /// Its number; later jobs have higher ones.
        public var id: UInt64
        /// The job's data, as pushed.
        public var job: WireValue
        /// Number of its failures.
        public var failures: Int = 0
    }

    /// A worker, as attested by the kernel.
    @WireCodable
    @MemberwiseInit
    public struct Client: Equatable, Sendable {
        /// Number of its connection.
        public var connection: UInt64
        /// Its user id.
        public var uid: UInt32
        /// Its process id.
        public var pid: Int32

        init(_ caller: Caller) {
            self.init(connection: caller.connection, uid: caller.uid, pid: caller.pid)
        }
    }

    /// A job that a worker has claimed.
    @WireCodable
    @MemberwiseInit
    public struct Claim: Equatable, Sendable {
        /// The job's data, as pushed.
        public var job: WireValue
        /// Number of its earlier failures.
        public var failures: Int
        /// The worker.
        public var client: Client
    }
}

extension Queue.State {
    /// Moves the first waiting job to the claimed ones.
    mutating func claimFirst(for client: Queue.Client) {
        guard let first = waiting.first else { return }
        waiting.removeFirst()
        claimed[first.id] = Queue.Claim(
            job: first.job, failures: first.failures, client: client)
    }

    /// Moves claimed jobs back to the front of the waiting ones.
    ///
    /// It does not count as a failure: only the worker's connection ended.
    mutating func takeBack(_ ids: [UInt64]) {
        var returning: [Queue.Job] = []
        for id in ids {
            guard let claim = claimed.removeValue(forKey: id) else { continue }
            returning.append(Queue.Job(id: id, job: claim.job, failures: claim.failures))
        }
        waiting.prepend(returning)
    }
}
