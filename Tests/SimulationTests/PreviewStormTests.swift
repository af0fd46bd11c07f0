import ReactorClient
import ReactorCore
import ReactorServer
import ReactorTesting
import ReactorWire
import Testing

/// Takes notes; the daemon refuses every fifth, which a preview does not predict.
@Reactor
struct Notebook {
    enum Action: Equatable, Sendable { case note(Int) }
    enum Mutation: Equatable, Sendable { case noted(Int) }
    struct State: Equatable, Sendable { var notes: [Int] = [] }

    func mutate(
        action: Action, state: State, context: ReactorContext<Self>
    ) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .note(let number):
            guard number % 5 > 0 || context.isPreview else {
                throw Rejection("fifth", "\(number) is refused")
            }
            return [.noted(number)]
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .noted(let number): state.notes.append(number)
        }
    }
}

/// Clients that preview all their actions.
private final class PreviewCrowd {
    let world: SimulatedWorld
    private var writers: [Writer] = []
    private var lastNote = 0
    private(set) var shownEarly = 0
    private(set) var rolledBack = 0

    private struct Writer {
        var client: SimulatedClient
        var node: NodeID?
        var mirror: ReactorClient.Mirror<Notebook>?
    }

    init(seed: UInt64) {
        world = SimulatedWorld(seed: seed, Tree(Notebook(), epoch: seed | 1), limits: Crowd.limits)
        for index in 0..<4 { join(index) }
        guard seed % 2 == 0 else { return }
        world.timeline.after(UInt64.random(in: 80_000_000...320_000_000, using: &world.random)) {
            [unowned self] in
            world.restart(Tree(Notebook(), epoch: world.newEpoch()))
        }
    }

    private func join(_ index: Int) {
        var options = ClientOptions(program: "writer \(index)")
        options.pauseMin = 5_000_000
        options.pauseMax = 100_000_000
        let client = world.client(options)
        writers.append(Writer(client: client))
        client.act { machine in
            machine.open("/") { [unowned self] in writers[index].node = try? $0.get() }
            machine.mirror(Notebook(), at: "/") { [unowned self] in
                writers[index].mirror = try? $0.get()
            }
        }
        client.onChange = { [unowned self] in look(index) }
        write(index)
    }

    private func write(_ index: Int) {
        let pause = UInt64.random(in: 100_000...10_000_000, using: &world.random)
        world.timeline.after(pause) { [unowned self] in
            guard world.chance.isStormy else { return }
            for _ in 0..<Int.random(in: 1...5, using: &world.random) { note(index) }
            write(index)
        }
    }

    private func note(_ index: Int) {
        guard let mirror = writers[index].mirror, let node = writers[index].node else { return }
        lastNote += 1
        let number = lastNote
        writers[index].client.act { machine in
            let action = Notebook.Action.note(number)
            try? machine.submit(OutgoingAction(action, previewedOn: mirror, to: node)) {
                [unowned self] in
                told($0, number, mirror)
            }
        }
        if mirror.notes.contains(number) { shownEarly += 1 }
    }

    private func told(
        _ outcome: ActionOutcome, _ number: Int, _ mirror: ReactorClient.Mirror<Notebook>
    ) {
        guard case .rejected = outcome else { return }
        rolledBack += 1
        world.expect(!mirror.notes.contains(number), "\(number) was refused and is shown")
    }

    private func look(_ index: Int) {
        guard let notes = writers[index].mirror?.notes else { return }
        world.expect(
            Set(notes).count == notes.count, "writer \(index) is shown a note twice: \(notes)")
    }

    /// Ends the disturbances, runs until all work is done, and compares.
    func finish() {
        world.run(for: 400_000_000)
        world.heal()
        world.run(for: 20_000_000_000)
        let state = (world.server.tree.root as? Node<Notebook>)?.state
        for (index, writer) in writers.enumerated() {
            world.expect(writer.client.machine.pendingCount == 0, "writer \(index) still waits")
            world.expect(writer.mirror?.state == state, "writer \(index) shows another state")
        }
        world.expect(state?.notes.allSatisfy { $0 % 5 > 0 } ?? false, "a refused note is there")
    }
}

struct PreviewStormTests {
    @Test(
        "F70: in every storm, a preview shows once, is rolled back, and ends at the state",
        arguments: SimulationTests.seeds)
    func storm(_ seed: UInt64) async throws {
        let (violations, shownEarly, rolledBack) = try await Apart.run {
            let crowd = PreviewCrowd(seed: seed)
            crowd.finish()
            return (crowd.world.violations, crowd.shownEarly, crowd.rolledBack)
        }
        #expect(violations == [], "run again with REACTORD_SEED=\(seed)")
        #expect(shownEarly > 20 && rolledBack > 3)
    }
}
