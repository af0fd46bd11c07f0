import ReactorClient
import ReactorCore

/// An event that a simulation causes.
enum SimulatedEvent {
    /// A client sends an action.
    case send(SimulatedAction)
    /// A client's connection breaks.
    case disconnect(client: Int)
    /// A client's program dies, and another takes its number.
    case die(client: Int)
    /// The daemon restarts without its history.
    case restart
    /// The daemon crashes and recovers from its history.
    case recover
    /// The daemon crashes, and its next version recovers from its history.
    case upgrade
}

/// An event, and the time that passes before it in nanoseconds.
struct SimulatedStep {
    var pause: UInt64
    var event: SimulatedEvent
}

/// The events of a run in order, with the outcomes of its actions.
struct SimulationTrace {
    private(set) var steps: [SimulatedStep] = []
    private var outcomes: [Int: String] = [:]

    /// Adds a step and returns its index.
    mutating func add(_ step: SimulatedStep) -> Int {
        steps.append(step)
        return steps.count - 1
    }

    /// Records what became of the action at `index`.
    mutating func conclude(_ index: Int, _ text: String) { outcomes[index] = text }

    /// One line for each step, numbered from 1.
    var lines: [String] {
        steps.indices.map { index in
            let step = steps[index]
            let time = "after \((step.pause + 500) / 1_000) µs"
            return "  \(index + 1). \(time), \(text(of: step.event, index))"
        }
    }

    private func text(of event: SimulatedEvent, _ index: Int) -> String {
        switch event {
        case .send(let action):
            let awaited = action.awaitsEffects ? ", waits for its effects" : ""
            return "client \(action.client) sends \(action.text)\(awaited): "
                + "\(outcomes[index] ?? "no outcome yet")"
        case .disconnect(let client): return "the connection of client \(client) breaks"
        case .die(let client): return "client \(client) dies, and another takes its number"
        case .restart: return "the daemon restarts without its history"
        case .recover: return "the daemon crashes, and recovers from its history"
        case .upgrade: return "the daemon crashes, and its next version recovers from its history"
        }
    }
}

extension ActionOutcome {
    /// Whether a reactor has answered the action.
    var hasReply: Bool {
        switch self {
        case .applied(_, let reply), .ownerEnded(_, let reply): reply != nil
        case .accepted, .rejected, .failed, .unknown: false
        }
    }

    /// The outcome as a short text.
    var shortText: String {
        switch self {
        case .applied(let revision, let reply):
            let answer = reply.map { ", reply \(WireValue.texts(of: $0.bytes))" } ?? ""
            return "applied as \(revision.sequence)\(answer)"
        case .ownerEnded(let revision, _):
            return "applied as \(revision.sequence), its connection has ended since"
        case .accepted(let revision): return "accepted as \(revision.sequence)"
        case .rejected(let rejection): return "rejected, \(rejection)"
        case .failed(let message): return "failed, \(message)"
        case .unknown(let reason): return "unknown, \(reason)"
        }
    }
}

/// Shortens a failing run by leaving out steps while the same failure remains.
///
/// Larger parts are tried before single steps. *Cost*: at most `attemptsMax` runs.
struct StepShortener {
    /// Runs the steps; returns the steps up to the failure, or nil if they do not lead to the
    /// failure.
    let fails: ([SimulatedStep]) -> [SimulatedStep]?
    private var attemptsLeft: Int

    init(attemptsMax: Int, fails: @escaping ([SimulatedStep]) -> [SimulatedStep]?) {
        self.fails = fails
        attemptsLeft = attemptsMax
    }

    /// Returns the shortest failing list of steps that was found, or nil if the steps alone do
    /// not repeat the failure.
    mutating func shorten(_ steps: [SimulatedStep]) -> [SimulatedStep]? {
        guard var shortest = attempt(steps) else { return nil }
        var part = shortest.count / 2
        while part > 0, attemptsLeft > 0 {
            let countBefore = shortest.count
            leaveOut(part, from: &shortest)
            // A step may have become superfluous when another was left out.
            if part > 1 || shortest.count == countBefore { part /= 2 }
            part = min(part, max(shortest.count / 2, 1))
            if shortest.count == 0 { break }
        }
        return shortest
    }

    private mutating func leaveOut(_ part: Int, from steps: inout [SimulatedStep]) {
        // The end is tried first: later steps depend on earlier ones.
        var end = steps.count
        while end > 0, attemptsLeft > 0 {
            let start = max(0, end - part)
            var fewer = steps
            fewer.removeSubrange(start..<end)
            if let failing = attempt(fewer) { steps = failing }
            end = min(start, steps.count)
        }
    }

    private mutating func attempt(_ steps: [SimulatedStep]) -> [SimulatedStep]? {
        guard attemptsLeft > 0 else { return nil }
        attemptsLeft -= 1
        return fails(steps)
    }
}
