package import ReactorCluster

/// What every ``LogEngine`` must do, as calls with the events that must follow.
///
/// *Place*: run over ``SimulatedLog``, and over a connection to a real engine with an empty cluster.
/// The caller makes each call and hands in all events, until enough have come:
///
///     while let call = conformance.nextCall() {
///         engine.send(call)
///         while conformance.isWaiting { conformance.take(event()) }
///     }
package struct EngineConformance {
    /// One call. The check gets its events and the answers of earlier steps, and returns the
    /// mistake as text.
    private struct Step {
        let name: String
        let eventCount: Int
        let call: (Known) -> EngineCall
        private(set) var check: ([EngineEvent], inout Known) -> String? = { _, _ in nil }

        init(
            _ name: String, events eventCount: Int = 1, call: @escaping (Known) -> EngineCall
        ) {
            (self.name, self.eventCount, self.call) = (name, eventCount, call)
        }

        /// The step with its check.
        func expecting(
            _ check: @escaping ([EngineEvent], inout Known) -> String?
        ) -> Step {
            var step = self
            step.check = check
            return step
        }
    }

    /// What the engine has answered so far.
    private struct Known {
        var sighting = LeaderSighting(
            head: .beginning, term: 0, leader: nil, beat: 0, nodes: [])
        var term: UInt64 = 0
        var formerTerm: UInt64 = 0
        var entries: [StoredEntry] = []

        var head: LogPosition { entries.last?.position ?? .beginning }
    }

    private let steps = Self.makeSteps()
    private var known = Known()
    private var next = 0
    private var events: [EngineEvent] = []
    private var open: Step?
    /// The violations so far, as sentences.
    package private(set) var violations: [String] = []

    /// All steps, before the first.
    package init() {}

    /// The next call; nil after the last, and after a violation.
    package mutating func nextCall() -> EngineCall? {
        guard next < steps.count, violations.isEmpty else { return nil }
        let step = steps[next]
        next += 1
        events = []
        open = step.eventCount > 0 ? step : nil
        return step.call(known)
    }

    /// Whether events of the last call are missing.
    package var isWaiting: Bool { open != nil }

    /// Takes an event.
    package mutating func take(_ event: EngineEvent) {
        guard let step = open else { return violations.append("\(event) without a call") }
        if case .entries(let entries) = event {
            events += entries.map { .entries([$0]) }
        } else {
            events.append(event)
        }
        guard events.count >= step.eventCount else { return }
        open = nil
        if let wrong = step.check(events, &known) {
            violations.append("\(step.name): \(wrong), got \(events)")
        }
    }
}

// MARK: - Steps
extension EngineConformance {
    private static let claim = LeaderRecord.held(
        LeaderClaim(node: ClusterNode(1), incarnation: 1, attempt: 1))
    private static let rival = LeaderRecord.held(
        LeaderClaim(node: ClusterNode(2), incarnation: 1, attempt: 1))
    private static let report = NodeReport(node: ClusterNode(1))

    private static func makeSteps() -> [Step] {
        reading + leading + appending + fencing + watching
    }

    private static var reading: [Step] {
        [
            Step("an empty cluster") { _ in .look }
                .expecting { events, known in
                    events == [.sighting(known.sighting)] ? nil : "everything is absent"
                },
            Step("the first report") { _ in .announce(report) }
                .expecting { events, _ in
                    events == [.announced(version: 1)] ? nil : "version 1 is expected"
                },
            Step("the second report") { _ in .announce(report) }
                .expecting { events, _ in
                    events == [.announced(version: 2)] ? nil : "version 2 is expected"
                },
            look("reports do not move the log") { seen, known in
                seen.isUnmoved(since: known.sighting)
                    && seen.nodes == [NodeSighting(version: 2, report: report)]
            },
        ]
    }

    private static func look(
        _ name: String, by call: EngineCall = .look,
        _ isRight: @escaping (LeaderSighting, Known) -> Bool
    ) -> Step {
        Step(name) { _ in call }
            .expecting { events, known in
                guard case .sighting(let seen)? = events.first else {
                    return "a sighting is expected"
                }
                defer { known.sighting = seen }
                return isRight(seen, known) ? nil : "the sighting is another one"
            }
    }

    private static var leading: [Step] {
        [
            takeOver("the first take-over", claim),
            Step("a take-over of a state that moved") {
                .takeOver(seen: $0.sighting, record: rival)
            }
            .expecting { events, known in
                guard case .lost(let seen)? = events.first else { return "a loss is expected" }
                known.sighting = seen
                return seen.term == known.term && seen.leader == claim
                    ? nil : "the winner's claim is expected"
            },
            Step("a beat") { .beat(term: $0.term) }
                .expecting { events, _ in
                    events == [.beaten] ? nil : "it holds"
                },
            look("a beat moves the beat") { seen, known in
                seen.beat > known.sighting.beat && seen.term == known.term
            },
        ]
    }

    private static func takeOver(_ name: String, _ record: LeaderRecord) -> Step {
        Step(name) { .takeOver(seen: $0.sighting, record: record) }
            .expecting { events, known in
                guard case .won(let term, let head)? = events.first else {
                    return "a victory is expected"
                }
                known.formerTerm = known.term
                known.term = term
                return term > known.formerTerm && head == known.head
                    ? nil : "a later term and the head \(known.head) are expected"
            }
    }

    private static func append(_ name: String, _ entry: [UInt8]) -> Step {
        Step(name) { .append(entry: entry, expected: $0.head.number, term: $0.term) }
            .expecting { events, known in
                guard case .appended(let position)? = events.first else {
                    return "an append is expected"
                }
                let former = known.head
                known.entries.append(StoredEntry(position: position, bytes: entry))
                return position.number == former.number + 1 && position.revision > former.revision
                    ? nil : "the entry after \(former) is expected"
            }
    }

    /// A call that must be refused, with the state that it found.
    private static func refused(
        _ name: String, _ leader: LeaderRecord, _ call: @escaping (Known) -> EngineCall
    ) -> Step {
        Step(name) { call($0) }
            .expecting { events, known in
                let refusal = LogRefusal(last: known.entries.last, term: known.term, leader: leader)
                return events == [.refused(call(known).kind, refusal)]
                    ? nil : "\(refusal) is expected"
            }
    }

    private static var appending: [Step] {
        [
            append("the first entry", [1]), append("the second entry", [2, 2]),
            refused("an entry again", claim) {
                .append(entry: [2, 2], expected: $0.head.number - 1, term: $0.term)
            },
            refused("an entry behind a missing one", claim) {
                .append(entry: [4], expected: $0.head.number + 1, term: $0.term)
            },
            append("an empty entry", []),
            append(
                "the longest entry", [UInt8](repeating: 3, count: EngineLimits.entryBytesMax)),
            look("a confirmed look sees the head", by: .confirm) { seen, known in
                seen.head == known.head && seen.term == known.term && seen.leader == claim
            },
            look("a look sees the head") { seen, known in
                seen.head == known.head && seen.term == known.term && seen.leader == claim
            },
        ]
    }

    private static var fencing: [Step] {
        [
            takeOver("another take-over", rival),
            refused("an append of the former term", rival) {
                .append(entry: [5], expected: $0.head.number, term: $0.formerTerm)
            },
            refused("a beat of the former term", rival) { .beat(term: $0.formerTerm) },
            refused("a vacate of the former term", rival) {
                .vacate(term: $0.formerTerm, successor: nil)
            },
            append("an entry of the later term", [6]),
            Step("a vacate") { .vacate(term: $0.term, successor: ClusterNode(1)) }
                .expecting {
                    events, known in
                    guard case .vacated(let term)? = events.first, term > known.term else {
                        return "a later term is expected"
                    }
                    known.term = term
                    return nil
                },
            look("a vacancy is seen") { seen, known in
                seen.term == known.term && seen.leader == .vacant(successor: ClusterNode(1))
            },
        ]
    }

    private static var watching: [Step] {
        [
            // Three changes of the leader key are among the entries.
            Step("a watch of everything", events: 8) { _ in .watch(after: .beginning) }
                .expecting {
                    events, known in
                    let entries = events.flatMap { event -> [StoredEntry] in
                        if case .entries(let entries) = event { entries } else { [] }
                    }
                    let leaders = events.compactMap { event -> LeaderRecord? in
                        if case .leader(_, let record) = event { record } else { nil }
                    }
                    return entries == known.entries
                        && leaders == [claim, rival, .vacant(successor: ClusterNode(1))]
                        ? nil : "all entries and leaders are expected, in their order"
                },
            Step("the end of a watch", events: 0) { _ in .unwatch }
                .expecting { _, _ in nil },
            Step("a compaction") { .compact(upTo: $0.entries[1].position) }
                .expecting { events, _ in
                    events == [.trimmed] ? nil : "it succeeds"
                },
            Step("a compaction again") { .compact(upTo: $0.entries[0].position) }
                .expecting { events, _ in
                    events == [.trimmed] ? nil : "it succeeds"
                },
            Step("a watch after what is compacted", events: 5) {
                .watch(after: $0.entries[1].position)
            }
            .expecting { events, known in
                let entries = events.flatMap { event -> [StoredEntry] in
                    if case .entries(let entries) = event { entries } else { [] }
                }
                return entries == Array(known.entries[2...])
                    ? nil : "the entries behind the compaction are expected"
            },
            Step("a watch of what is compacted") { _ in .watch(after: .beginning) }
                .expecting {
                    events, known in
                    events == [.compacted(upTo: known.entries[1].position.revision)]
                        ? nil : "the compacted revision is expected"
                },
        ]
    }
}
