public import ReactorClient
public import ReactorCore

/// One client of a simulation: its identity, its mirrors, and the outcomes of its actions.
///
///     simulation.invariant(ofClients: "a client sees the issues that it opened") { client in
///         guard let shown = client.state(of: Tracker.self) else { return true }
///         return client.outcomes(of: Tracker.self).allSatisfy { sent in
///             guard client.shows(sent), let number = sent.reply?.number else { return true }
///             return shown.lines[number] != nil
///         }
///     }
///
/// *Owner*: the closure that receives it, for one call.
public struct SimulatedView {
    /// The client's number, from 0; the client that follows one that has died has its number.
    public let client: Int
    private let member: SimulatedMember
    private let model: TreeModel
    private let daemon: Tree

    init(_ client: Int, _ member: SimulatedMember, _ model: TreeModel, of daemon: Tree) {
        self.client = client
        self.member = member
        self.model = model
        self.daemon = daemon
    }

    /// The number of the client's connection, by which a reactor knows it: `caller.connection`. A
    /// lost connection keeps its number until the client has the next one; nil before the first.
    public var connection: UInt64? { member.client.machine.welcome?.connection }

    /// The number of the client's session, which remains when it reconnects: `caller.client`. Nil
    /// before the first connection.
    public var session: UInt64? { member.client.machine.welcome?.client }

    /// The revision that the client's mirrors show.
    public var revision: Revision { member.client.machine.revision }

    /// The state in the client's mirror at `path`; nil before the mirror shows one, and if the
    /// simulation does not mirror this type there: see ``Simulation/follow(_:at:)``.
    public func state<R: Reactor>(of type: R.Type, at path: String = "/") -> R.State? {
        member.readers[path]?.state() as? R.State
    }

    /// The children in the collections that match `pattern`, as the client last received them. The
    /// pattern is that of a ``Simulation/traffic(toChildrenOf:of:percent:_:)`` or a
    /// ``Simulation/follow(childrenOf:)``.
    public func children<R: Reactor>(
        of type: R.Type, at pattern: String
    ) -> [SimulatedChild<R.State>] {
        let components = (try? SlicePath(pattern))?.components ?? []
        return member.children(at: pattern).compactMap { path, value in
            let node = model[path]?.node as? Node<R>
            let names = Set(node?.children.keys ?? [:].keys)
            let bytes = value.wireBytes()
            let own = try? ComposedValue.own(bytes.span, without: names, R.State.wireSchema)
            let state = try? R.State(wireBytes: names.isEmpty ? bytes : own ?? bytes)
            return state.map { SimulatedChild(path: path, state: $0, pattern: components) }
        }
    }

    /// The keys of the reactor at `path` that the client's connection owns in the daemon, in the
    /// order in which it took them. The client may not know yet.
    public func ownedKeys(at path: String = "/") -> [WireKey] {
        daemon.owners(at: path).filter { $0.connection == connection }.map(\.key)
    }

    /// The keys of type `Key` of those that ``ownedKeys(at:)`` returns.
    public func ownedKeys<Key: ChildKey>(at path: String = "/", as type: Key.Type) -> [Key] {
        ownedKeys(at: path).compactMap { Key(wireKeyText: $0.text) }
    }

    /// The planned actions of the reactor of type `type` at `path` in the daemon, in the order in
    /// which they were planned. The client may not know their cause yet.
    public func plans<R: Reactor>(
        of type: R.Type, at path: String = "/"
    ) -> [SimulatedPlan<R.Action>] { daemon.plans(of: type, at: path) }

    /// The outcomes of the client's actions to reactors of type `type`, in the order in which they
    /// arrived; without those of batches, which have one outcome for several reactors.
    public func outcomes<R: Reactor>(of type: R.Type) -> [SimulatedOutcome<R>] {
        member.outcomes.compactMap { SimulatedOutcome($0) }
    }

    /// Whether the client's mirrors are those of the same history as an outcome, and new enough to
    /// show it.
    public func shows<R: Reactor>(_ outcome: SimulatedOutcome<R>) -> Bool {
        guard let applied = outcome.outcome.revision else { return false }
        return applied.epoch == revision.epoch && applied.sequence <= revision.sequence
    }
}

/// The outcome of an action of a simulated client.
public struct SimulatedOutcome<R: Reactor> {
    /// The path of the reactor that received the action.
    public let path: String
    /// The action.
    public let action: R.Action
    /// The outcome.
    public let outcome: DispatchOutcome<R.Reply>

    /// The reply, if the action was applied and answered.
    public var reply: R.Reply? {
        switch outcome {
        case .applied(_, let reply), .ownerEnded(_, let reply): reply
        case .accepted, .rejected, .failed, .unknown: nil
        }
    }

    /// Reads a concluded action; nil if its reactor is of another type.
    init?(_ sent: SimulatedMember.Concluded) {
        guard sent.action.type == ObjectIdentifier(R.self), let part = sent.action.parts.first,
            let action = try? R.Action(wireBytes: part.action.bytes)
        else { return nil }
        path = part.path
        self.action = action
        outcome = sent.outcome.typed(as: R.Reply.self)
    }
}

/// The actions of one transaction that a simulated client sends: see
/// ``Simulation/traffic(ofBatches:percent:_:)``.
public struct SimulatedBatch {
    private(set) var parts: [SimulatedAction.Part] = []

    /// Adds an action for the reactor at a path of properties.
    public mutating func send<R: Reactor>(_ action: R.Action, to path: ReactorPath<R>) {
        send(action, to: "\(path.path)")
    }

    /// Adds an action of any shape for the node at `path`.
    public mutating func send(_ action: some WireCodable, to path: String) {
        parts.append(SimulatedAction.Part(action, to: path))
    }
}

/// An action of a simulated client, or a batch of them.
struct SimulatedAction {
    /// An action for one reactor.
    struct Part {
        /// The reactor's path.
        let path: String
        let action: WireEmbedded
        /// The action as its author's type prints it.
        let text: String

        init(_ action: some WireCodable, to path: String) {
            self.path = path
            self.action = WireEmbedded(action)
            text = "\(action)"
        }
    }

    /// The client's number.
    var client: Int
    /// The action; those of a batch, in order.
    var parts: [Part]
    /// The type of the reactor for which the action was made; nil of a batch.
    var type: ObjectIdentifier?
    /// Whether the client waits for the end of the action's effects.
    var awaitsEffects = false
    /// The path of the traffic to which it belongs, or the name of the batches.
    var origin: String

    /// The actions with the paths of their reactors.
    var text: String {
        let list = parts.map { "\($0.text) to \($0.path)" }.joined(separator: ", ")
        return type == nil ? "one transaction of \(list)" : list
    }

    /// The action as its client sends it to the nodes of the parts.
    func outgoing(to nodes: [NodeID]) -> OutgoingAction {
        var outgoing: OutgoingAction
        if type != nil, let node = nodes.first, let part = parts.first {
            outgoing = OutgoingAction(encoded: part.action.bytes, to: node)
        } else {
            outgoing = OutgoingAction(batch: zip(nodes, parts).map { ($0, $1.action) })
        }
        outgoing.awaitsEffects = awaitsEffects
        return outgoing
    }
}

/// One client of a simulation.
///
/// *Owner*: ``SimulationRun``.
final class SimulatedMember {
    /// An action and its outcome.
    struct Concluded {
        var action: SimulatedAction
        var outcome: ActionOutcome
    }

    /// Reads a mirror's state.
    struct Reader {
        var bytes: () -> [UInt8]
        var state: () -> Any
    }

    let client: SimulatedClient
    /// The mirrors, by path.
    private(set) var readers: [String: Reader] = [:]
    /// The outcomes so far, in the order of their arrival.
    private(set) var outcomes: [Concluded] = []
    /// The revision that was last compared.
    private(set) var shown = Revision(epoch: 0, sequence: 0)
    private var values: [String: (pattern: PathPattern, value: FollowedValue)] = [:]

    init(_ client: SimulatedClient) { self.client = client }

    /// Follows the collections that match `pattern`.
    func follow(_ text: String) {
        guard values[text] == nil, let pattern = PathPattern(text) else { return }
        client.act { machine in
            values[text] = (pattern, machine.followValue(at: "\(pattern.fixed)"))
        }
    }

    /// Keeps the reader of a mirror.
    func keep(_ reader: Reader, of path: String) { readers[path] = reader }

    /// Records an outcome.
    func conclude(_ action: SimulatedAction, _ outcome: ActionOutcome) {
        outcomes.append(Concluded(action: action, outcome: outcome))
    }

    /// Sets the revision that was compared; returns the one before.
    func show(_ revision: Revision) -> Revision {
        defer { shown = revision }
        return shown
    }

    /// The last value of what a followed pattern begins with.
    func value(at pattern: String) -> WireValue? { values[pattern]?.value.value }

    /// The children with their composed values, in the collections that match `pattern`.
    func children(at pattern: String) -> [(path: SlicePath, value: WireValue)] {
        guard let (pattern, followed) = values[pattern], let value = followed.value else {
            return []
        }
        return pattern.children(in: value)
    }
}
