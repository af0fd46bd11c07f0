public import ReactorCore

/// Jobs that are each done by one of many workers.
///
/// A worker claims the first job, and finishes or fails it. A job whose worker's connection ends
/// returns to the front; one that failed returns to the back, until it has failed three times and
/// is set aside in `failed`.
///
/// Rejections: `full` for `push` beyond the capacity, `too_large` for a job of more than 64 KiB,
/// `empty` for `claim` where no job waits, `unknown_job` for `finish` and `fail` of a job that
/// nobody has claimed, `not_yours` of one that another connection has.
@Reactor
public struct Queue {
    /// Most jobs that a queue can be made to hold.
    public static let capacityMax = 1_000_000
    /// Jobs that a queue holds, waiting or claimed, unless its author says otherwise.
    public static let capacityDefault = 100_000
    /// Largest job, in encoded bytes.
    public static let jobBytesMax = 64 << 10
    /// How often a job may fail; the last time it is set aside.
    public static let failuresMax = 3
    /// Most failed jobs that are kept to be looked at; one more drops the oldest.
    public static let failedMax = 1_000

    /// How many jobs fit, waiting or claimed.
    public let capacity: Int

    /// *Traps* unless `capacity` is 1 to ``capacityMax``.
    public init(capacity: Int = Queue.capacityDefault) {
        precondition(
            1...Self.capacityMax ~= capacity,
            "queue: capacity \(capacity) is not 1 to \(Self.capacityMax)")
        self.capacity = capacity
    }

    /// What a client may ask of a queue.
    public enum Action: Equatable, Sendable {
        /// Adds a job at the back.
        case push(job: WireValue)
        /// Takes the first job for the caller's connection, and replies its id and what it is.
        case claim
        /// Ends the job that the caller claimed: it is done.
        case finish(id: UInt64)
        /// Gives the job that the caller claimed back, to be tried again or set aside.
        case fail(id: UInt64)
    }

    /// What may happen to a queue.
    public enum Mutation: Equatable, Sendable {
        /// A job came at the back.
        case pushed(id: UInt64, job: WireValue)
        /// The first job was claimed.
        case claimed(by: Client)
        /// A claimed job is done.
        case finished(id: UInt64)
        /// A claimed job failed and came back at the back.
        case retried(id: UInt64)
        /// A claimed job failed and was set aside.
        case setAside(id: UInt64)
        /// Claimed jobs came back at the front, in this order.
        case returned(ids: [UInt64])
    }

    /// What `claim` is answered with.
    public struct Reply: Equatable, Sendable {
        /// Number of the job: finish or fail it by that.
        public var id: UInt64
        /// The job, as it was pushed.
        public var job: WireValue

        /// Tells a job.
        public init(id: UInt64, job: WireValue) {
            self.id = id
            self.job = job
        }
    }

    /// The state of a queue.
    @ReactorState
    public struct State: Equatable, Sendable {
        /// Jobs that nobody works on, the next one first.
        public var waiting: SlidingArray<Job> = []
        /// Jobs that somebody works on, by their numbers.
        public var claimed: Keyed<UInt64, Claim> = [:]
        /// Jobs that failed too often, the latest last.
        public var failed: SlidingArray<Job> = []
        /// Number of the last job that was pushed.
        public var lastID: UInt64 = 0

        /// No jobs.
        public init() {}
    }

    public func mutate(
        action: Action, state: State, context: Context<Self>
    ) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .push(let job):
            return try push(job, state)
        case .claim:
            return try claim(state, context)
        case .finish(let id):
            try checkClaim(id, state, context)
            context.disown(Self.ownedKey(id), connection: context.caller.connection)
            return Mutations(.finished(id: id))
        case .fail(let id):
            let claim = try checkClaim(id, state, context)
            context.disown(Self.ownedKey(id), connection: context.caller.connection)
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
        _ owned: Owned, state: State, context: Context<Self>
    ) -> Mutations<Mutation> {
        let ids = owned.keys.compactMap { UInt64($0.text) }.filter { id in
            state.claimed[id]?.client.connection == owned.connection
        }
        return ids.isEmpty ? .none : Mutations(.returned(ids: ids.sorted()))
    }
}

extension Queue {
    private static func ownedKey(_ id: UInt64) -> WireKey { WireKey("\(id)") }

    private func push(_ job: WireValue, _ state: State) throws(Rejection) -> Mutations<Mutation> {
        try job.check(bytesMax: Self.jobBytesMax, "the job")
        guard state.waiting.count + state.claimed.count < capacity else {
            throw Rejection("full", "the queue holds its \(capacity) jobs: let workers claim some")
        }
        return Mutations(.pushed(id: state.lastID + 1, job: job))
    }

    private func claim(
        _ state: State, _ context: Context<Self>
    ) throws(Rejection) -> Mutations<Mutation> {
        try context.refusePreview()
        guard let first = state.waiting.first else {
            throw Rejection("empty", "no job waits: claim again when the queue has changed")
        }
        context.own(Self.ownedKey(first.id))
        context.reply(Reply(id: first.id, job: first.job))
        return Mutations(.claimed(by: Client(context.caller)))
    }

    /// Refuses what is not for the caller to say about job `id`.
    @discardableResult
    private func checkClaim(
        _ id: UInt64, _ state: State, _ context: Context<Self>
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
