import ClusterSimulation
import ReactorCluster
import ReactorTesting
import Testing

/// The simulated engine conforms to ``LogEngine``. Drives ``EngineConformance``, ``SimulatedLog``
/// and ``SimulatedEngine``.
struct SimulatedLogTests {
    @Test("the simulated engine does what every engine must do")
    func conformance() {
        let timeline = Timeline()
        let engine = SimulatedEngine(
            SimulatedLog(), of: ClusterNode(1), on: timeline, SimulatedSky(seed: 1))
        let log = SimulatedEngineLog(engine, timeline)
        #expect(log.next() == .up)
        var conformance = EngineConformance()
        while let call = conformance.nextCall() {
            engine.send(call)
            while conformance.isWaiting {
                guard let event = log.next() else {
                    Issue.record("no event follows \(call)")
                    return
                }
                conformance.take(event)
            }
        }
        #expect(conformance.violations == [])
    }

    @Test("a faulty engine does not conform: without a fence, with other numbers, without order")
    func mutants() {
        let faults: [(EngineEvent) -> EngineEvent] = [
            { event in
                guard case .refused(.append, let refusal) = event else { return event }
                return .appended(LogPosition(number: 1, revision: refusal.term + 1))
            },
            { event in
                guard case .appended(var position) = event else { return event }
                position.number += 1
                return .appended(position)
            },
            { event in
                guard case .won(let term, var head) = event, head.number > 0 else { return event }
                head.number -= 1
                return .won(term: term, head: head)
            },
            { event in
                guard case .lost(var sighting) = event else { return event }
                sighting.leader = nil
                return .lost(sighting)
            },
            { event in if case .beaten = event { .trimmed } else { event } },
        ]
        for fault in faults {
            let log = SimulatedLog()
            var conformance = EngineConformance()
            while let call = conformance.nextCall() {
                // The watches come last.
                guard call.kind != .watch else { break }
                conformance.take(fault(log.apply(call)))
            }
            #expect(!conformance.violations.isEmpty)
        }
    }
}

/// The events of an engine, one by one.
private final class SimulatedEngineLog {
    private let timeline: Timeline
    private var events: [EngineEvent] = []

    init(_ engine: SimulatedEngine, _ timeline: Timeline) {
        self.timeline = timeline
        engine.onEvent = { [unowned self] event in events.append(event) }
    }

    /// Runs the timeline up to the next event; nil if none follows.
    func next() -> EngineEvent? {
        while events.isEmpty, timeline.nextDue != nil { timeline.runNext() }
        return events.isEmpty ? nil : events.removeFirst()
    }
}
