#if Cluster
    import ReactorCluster
    import TestPrograms

    /// An engine with the test as its owner: the test takes the events one by one.
    final class LogProbe {
        private let log: any LogEngine
        /// Runs the jobs that the engine has posted for its owner.
        private let proceed: () -> Void
        /// Events that the test has not taken.
        private(set) var events: [EngineEvent] = []
        private var isUp = false
        /// Called with each event, as the owner's reaction.
        var onEvent: ((EngineEvent) -> Void)?

        /// Takes the events of `log`; `proceed` keeps alive what the log needs.
        init(_ log: any LogEngine, proceed: @escaping () -> Void) {
            self.log = log
            self.proceed = proceed
            log.onEvent = { [unowned self] event in take(event) }
        }

        private func take(_ event: EngineEvent) {
            events.append(event)
            switch event {
            case .up: isUp = true
            case .down: isUp = false
            default: break
            }
            onEvent?(event)
        }

        /// Makes a call, without its answer.
        func send(_ call: EngineCall) { log.send(call) }

        /// Takes the next event that `matches`, and leaves those before it; nil if none comes.
        func next(_ matches: (EngineEvent) -> Bool) async -> EngineEvent? {
            var found: EngineEvent?
            _ = await holds {
                guard let index = events.firstIndex(where: matches) else { return false }
                found = events.remove(at: index)
                return true
            }
            return found
        }

        /// Waits until a condition holds; false if it never does.
        func holds(_ condition: () -> Bool) async -> Bool {
            await TestPrograms.holds {
                proceed()
                return condition()
            }
        }

        /// Takes the answer to a call of `kind`.
        func next(where kind: EngineCallKind) async -> EngineEvent? {
            await next { $0.answers(kind) }
        }

        /// Takes the next event.
        func next() async -> EngineEvent? { await next { _ in true } }

        /// Makes a call once there is a connection, and takes its answer.
        func answer(to call: EngineCall) async -> EngineEvent? {
            guard await holds({ isUp }) else { return nil }
            log.send(call)
            return await next { $0.answers(call.kind) }
        }

        /// Makes a call again until its answer is known, and takes that.
        func settledAnswer(to call: EngineCall) async -> EngineEvent? {
            var answer: EngineEvent?
            repeat { answer = await self.answer(to: call) } while answer?.isUnknown ?? false
            return answer
        }

        /// Takes the end of the connection, and returns its reason.
        @discardableResult
        func end() async throws -> String {
            let event = await next()
            guard case .down(let reason)? = event else { throw unexpected(event) }
            return reason
        }

        /// The error of a test that expected another event than `event`, which it has taken.
        func unexpected(_ event: EngineEvent?) -> NoAnswer {
            NoAnswer(events: [event].compactMap(\.self) + events)
        }

        /// Looks: the state of the log.
        func look() async throws -> LeaderSighting {
            let answer = await answer(to: .look)
            guard case .sighting(let sighting)? = answer else { throw unexpected(answer) }
            return sighting
        }

        /// Takes the leadership, vacant or not, and returns the term.
        func lead(as node: UInt8, attempt: UInt64 = 1) async throws -> UInt64 {
            let seen = try await look()
            let answer = await answer(to: .takeOver(seen: seen, record: record(node, attempt)))
            guard case .won(let term, _)? = answer else { throw unexpected(answer) }
            return term
        }

        /// Appends, and returns the position of the entry.
        func append(
            _ entry: [UInt8], expected: UInt64, term: UInt64
        ) async throws -> LogPosition {
            let answer = await answer(to: .append(entry: entry, expected: expected, term: term))
            guard case .appended(let position)? = answer else { throw unexpected(answer) }
            return position
        }

        /// The entries of the watch, until there are `count`.
        func entries(_ count: Int) async -> [StoredEntry] {
            var entries: [StoredEntry] = []
            while entries.count < count {
                let event = await next { if case .entries = $0 { true } else { false } }
                guard case .entries(let more)? = event else { break }
                entries += more
            }
            return entries
        }
    }

    /// The event that a test waits for did not come.
    struct NoAnswer: Error {
        let events: [EngineEvent]
    }

    /// A leadership of a node.
    func record(_ node: UInt8, _ attempt: UInt64 = 1) -> LeaderRecord {
        .held(LeaderClaim(node: ClusterNode(node), incarnation: 1, attempt: attempt))
    }

    extension EngineEvent {
        fileprivate var isUnknown: Bool {
            if case .unknown = self { true } else { false }
        }

        /// Whether the event answers a call of `kind`.
        func answers(_ kind: EngineCallKind) -> Bool {
            switch self {
            case .announced: kind == .announce
            case .sighting: kind == .look
            case .appended: kind == .append
            case .beaten: kind == .beat
            case .won, .lost: kind == .takeOver
            case .vacated: kind == .vacate
            case .trimmed: kind == .compact
            case .refused(let refused, _): kind == refused
            case .unknown(let unknown, _): kind == unknown
            case .up, .down, .entries, .leader, .compacted, .watchEnded, .damaged: false
            }
        }
    }
#endif
