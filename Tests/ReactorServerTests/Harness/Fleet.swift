import ReactorCore
import ReactorServer
import ReactorWire

/// A root with two collections of ships: one has integers as keys, the other texts.
@Reactor
struct Fleet {
    @Children var ships = { (_: Int) in Ship() }
    @Children var boats = { (_: WireKey) in Ship() }

    enum Action: Sendable {
        /// Sinks ships and boats, then launches others.
        case change(sunk: [String], launched: [String])
    }
    enum Mutation: Sendable { case changed }
    struct State: Sendable { var changes = 0 }

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        guard case .change(let sunk, let launched) = action else { return .none }
        var mutations = Mutations(Mutation.changed)
        for name in sunk {
            mutations = mutations.removing($boats, WireKey(name))
            if let number = Int(name) { mutations = mutations.removing($ships, number) }
        }
        for name in launched {
            mutations = mutations.creating($boats, WireKey(name))
            if let number = Int(name) { mutations = mutations.creating($ships, number) }
        }
        return mutations
    }

    func reduce(state: inout State, mutation: Mutation) { state.changes += 1 }
}

/// A state with a field of each kind that a selection compares, and a node below.
@Reactor
struct Ship {
    @Child var log = Page()

    enum Action: Sendable {
        case cargo(Int)
        case speed(Double)
        case name(String)
        case phase(Phase)
        case lost(Int?)
        case tag(key: WireKey, text: String?)
        case wait(Duration)
        case extra(WireValue)
        case painted(String)
    }

    /// Where a ship is.
    @WireCodable
    enum Phase: Equatable, Sendable {
        case docked
        case sailing(to: String)
        case sunk
    }

    /// A recorded state in another.
    @WireCodable
    @ReactorState
    struct Hull: Equatable, Sendable {
        var color = "grey"
        var isNew = true
    }

    @ReactorState
    struct State: Equatable, Sendable {
        var cargo = 0
        var speed = 0.5
        var name = ""
        var phase: Phase = Phase.docked
        var lost: Int?
        var tags: Keyed<WireKey, String> = [:]
        var wait: Duration = Duration.zero
        var extra: WireValue = WireValue.null
        var hull: Hull = Hull()
    }

    func reduce(state: inout State, mutation: Action) {
        switch mutation {
        case .cargo(let cargo): state.cargo = cargo
        case .speed(let speed): state.speed = speed
        case .name(let name): state.name = name
        case .phase(let phase): state.phase = phase
        case .lost(let lost): state.lost = lost
        case .tag(let key, let text): state.tags[key] = text
        case .wait(let wait): state.wait = wait
        case .extra(let extra): state.extra = extra
        case .painted(let color): state.hull.color = color
        }
    }
}

extension ServerHarness {
    /// Serves a fleet of ships and boats of these names.
    static func fleet(
        _ names: [String] = [], change: (inout ServerLimits) -> Void = { _ in }
    ) -> (harness: ServerHarness, admiral: Admiral) {
        let harness = ServerHarness(Tree(Fleet(), epoch: 7), change: change)
        let admiral = Admiral(harness)
        for start in stride(from: 0, to: names.count, by: 100) {
            admiral.change(launched: Array(names[start..<min(start + 100, names.count)]))
        }
        return (harness, admiral)
    }
}

/// A client that changes the fleet.
final class Admiral {
    let harness: ServerHarness
    private let client: TestClient
    private var numbers: [String: UInt32] = [:]

    init(_ harness: ServerHarness) {
        self.harness = harness
        client = harness.client()
        client.open("/", as: 0)
        harness.settle()
    }

    /// Sinks and launches ships and boats, and ends the turn unless `settles` is false.
    func change(sunk: [String] = [], launched: [String] = [], settles: Bool = true) {
        for name in sunk { numbers["/ships/\(name)"] = nil }
        for name in sunk { numbers["/boats/\(name)"] = nil }
        client.dispatch(Fleet.Action.change(sunk: sunk, launched: launched))
        if settles { harness.settle() }
    }

    /// Orders the ship or boat at `path`, and ends the turn unless `settles` is false.
    func order(_ path: String, _ action: Ship.Action, settles: Bool = true) {
        let number = numbers[path] ?? UInt32(numbers.count % 4_000 + 1)
        numbers[path] = number
        client.open(path, as: number)
        client.dispatch(action, to: number)
        if settles { harness.settle() }
        _ = client.frames()
    }
}
