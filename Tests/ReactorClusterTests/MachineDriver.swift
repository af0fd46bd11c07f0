@testable import ReactorCluster

/// A machine, with the outputs of each step, and times in milliseconds.
final class MachineDriver {
    static let nodes = (1...3).map { ClusterNode(UInt8($0)) }
    let machine: ClusterMachine
    private(set) var now: UInt64 = 1_000_000_000
    /// The outputs of the last step.
    private(set) var outputs: [ClusterOutput] = []

    init(node: Int = 1, change: (inout ClusterSettings) -> Void = { _ in }) {
        let id = ClusterNode(UInt8(node))
        var settings = ClusterSettings(node: id, nodes: Self.nodes)
        settings.delayMax = 0
        change(&settings)
        machine = ClusterMachine(
            settings, at: .beginning(seed: TestRows.start.chain), report: NodeReport(node: id),
            seed: 1, check: TestRows.isValid)
    }

    /// The calls among the outputs of the last step.
    var calls: [EngineCall] {
        outputs.compactMap { if case .call(let call) = $0 { call } else { nil } }
    }

    /// The outputs of the last step that are no calls.
    var others: [ClusterOutput] {
        outputs.filter { if case .call = $0 { false } else { true } }
    }

    func receive(_ event: EngineEvent) {
        machine.receive(event, at: now)
        outputs = machine.takeOutputs()
    }

    /// Lets time pass, and ticks at its end.
    func wait(_ milliseconds: UInt64) {
        now += milliseconds * 1_000_000
        machine.tick(at: now)
        outputs = machine.takeOutputs()
    }

    func append(_ rows: [LogRow]) {
        machine.append(rows, at: now)
        outputs = machine.takeOutputs()
    }

    func refresh() {
        machine.refresh(asOf: now, at: now)
        outputs = machine.takeOutputs()
    }

    func hold(_ isHeld: Bool) {
        machine.hold(isHeld, at: now)
        outputs = machine.takeOutputs()
    }

    func stepDown(to node: ClusterNode?) {
        machine.stepDown(to: node, at: now)
        outputs = machine.takeOutputs()
    }

    func restart(from position: AppliedPosition) {
        machine.restart(from: position, at: now)
        outputs = machine.takeOutputs()
    }

    // MARK: Usual ways to a state

    static func claim(_ node: Int, incarnation: UInt64 = 1, attempt: UInt64 = 1) -> LeaderRecord {
        .held(
            LeaderClaim(
                node: ClusterNode(UInt8(node)), incarnation: incarnation, attempt: attempt))
    }

    static func sighting(
        head: LogPosition = .beginning, term: UInt64 = 2, leader: LeaderRecord? = claim(2),
        beat: UInt64 = 3, nodes: [NodeSighting] = []
    ) -> LeaderSighting {
        LeaderSighting(head: head, term: term, leader: leader, beat: beat, nodes: nodes)
    }

    /// Connects and reports; the look is unanswered.
    func start() {
        receive(.up)
        receive(.announced(version: 4))
    }

    /// Looks at the same state until the machine takes over. Returns the call, if it comes within
    /// three seconds.
    func takeOver(_ sighting: LeaderSighting = MachineDriver.sighting()) -> EngineCall? {
        for _ in 0..<15 {
            receive(.sighting(sighting))
            if let call = calls.first(where: { $0.kind == .takeOver }) { return call }
            wait(200)
        }
        return nil
    }

    /// Leads in term 7.
    func lead() {
        start()
        _ = takeOver()
        receive(.won(term: 7, head: .beginning))
    }
}
