import ReactorCore
import ReactorServer
import ReactorTesting
import ReactorWire
import StockReactors

@testable import ReactorClient

// MARK: - Clients' work
extension HistoryCrowd {
    func work(_ index: Int) {
        let pause = UInt64.random(in: 50_000...size.pauseMax, using: &world.random)
        world.timeline.after(pause) { [unowned self] in
            guard world.chance.isStormy, !hasEnded else { return }
            guard members[index].client.machine.phase != .failed(.ended),
                !members[index].client.isGone
            else { return }
            for _ in 0..<Int.random(in: 1...5, using: &world.random) { act(index) }
            work(index)
        }
    }

    private func act(_ index: Int) {
        members[index].client.act { machine in
            switch Int.random(in: 0..<17, using: &world.random) {
            case 0, 1: addToBoth(index, machine)
            case 2: append(index, machine)
            case 3: failTogether(index, machine)
            case 4: setSome(index, machine)
            case 5: useLock(index, machine)
            case 6, 7: useQueue(index, machine)
            case 8: comeOrGo(index, machine)
            case 9, 10, 11: useNest(index, machine)
            case 12: wait(index, machine)
            case 13: lease(index, machine)
            case 14: exchange(index, machine)
            case 15: promise(index, machine)
            default: append(index, machine)
            }
        }
    }

    /// Sends an action and passes on its outcome; returns whether it was sent.
    @discardableResult
    func send(
        _ action: some WireCodable, to path: String, _ index: Int, _ machine: ClientMachine,
        then: @escaping (ActionOutcome) -> Void = { _ in }
    ) -> Bool {
        guard let node = members[index].nodes[path] else { return false }
        let conclude = told(index, then)
        var outgoing = OutgoingAction(action, to: node)
        outgoing.awaitsEffects = world.random.chance(5)
        return (try? machine.submit(outgoing, then: conclude)) != nil
    }

    /// Checks that an outcome's revision is not lower than those known before the action was
    /// sent.
    private func told(
        _ index: Int, _ then: @escaping (ActionOutcome) -> Void
    ) -> (ActionOutcome) -> Void {
        let (before, epoch) = (toldSequence, world.server.tree.revision.epoch)
        return { [unowned self] outcome in
            switch outcome {
            case .rejected, .failed: counts.rejected += 1
            case .unknown: counts.unknown += 1
            default: counts.applied += 1
            }
            if let revision = outcome.revision, revision.epoch == epoch,
                epoch == world.server.tree.revision.epoch
            {
                world.expect(
                    revision.sequence > before,
                    "client \(index) acted after outcome \(before), and got \(revision)")
                let shown = members[index].client.machine.revision
                world.expect(
                    members[index].readers.isEmpty || shown.epoch != epoch
                        || shown.sequence >= revision.sequence
                        || members[index].client.machine.phase != .live,
                    "client \(index) has outcome \(revision) while it shows \(shown)")
                toldSequence = max(toldSequence, revision.sequence)
            }
            then(outcome)
        }
    }

    // MARK: Values

    private func addToBoth(_ index: Int, _ machine: ClientMachine) {
        guard let left = members[index].nodes["/left"], let right = members[index].nodes["/right"]
        else { return }
        let amount = Int64.random(in: 1...9, using: &world.random)
        let add = WireEmbedded(Counter.Action.increment(by: amount))
        // Counted before sending, because a client that dies gets no outcome.
        tokens.openAdded += amount
        try? machine.submit(
            OutgoingAction(batch: [(left, add), (right, add)]),
            then: told(index) { [unowned self] outcome in
                tokens.openAdded -= amount
                if outcome.revision != nil { tokens.added += amount }
                if outcome.isUnknown { tokens.unknownAdded += amount }
            })
    }

    private func append(_ index: Int, _ machine: ClientMachine) {
        lastToken += 1
        let token = lastToken
        send(List.Action.append(value: Self.value(token)), to: "/list", index, machine) {
            [unowned self] in note($0, of: token)
        }
    }

    /// Sends a batch whose last action is refused, so that the whole batch has no effect.
    private func failTogether(_ index: Int, _ machine: ClientMachine) {
        guard let list = members[index].nodes["/list"], let nest = members[index].nodes["/nest"]
        else { return }
        lastToken += 1
        let token = lastToken
        let actions = [
            (list, WireEmbedded(List.Action.append(value: Self.value(token)))),
            (nest, WireEmbedded(Nest.Action.hatch(name: "z\(token)"))),
            (nest, WireEmbedded(Nest.Action.refuse)),
        ]
        try? machine.submit(
            OutgoingAction(batch: actions),
            then: told(index) { [unowned self] in note($0, of: token) })
    }

    private func note(_ outcome: ActionOutcome, of token: Int) {
        if let revision = outcome.revision {
            tokens.applied[token] = revision.sequence
        } else if outcome.isUnknown {
            tokens.unknown.insert(token)
        } else {
            tokens.refused.insert(token)
        }
    }

    private static func value(_ token: Int) -> WireValue {
        .integer(WireInteger(exactly: token) ?? 0)
    }

    private func setSome(_ index: Int, _ machine: ClientMachine) {
        lastToken += 1
        let (value, key) = (Self.value(lastToken), WireKey("\(lastToken % 5)"))
        switch Int.random(in: 0..<6, using: &world.random) {
        case 0: send(Map.Action.set(key: key, value: value), to: "/map", index, machine)
        case 1: send(Map.Action.remove(key: key), to: "/map", index, machine)
        case 2: send(MemberSet.Action.insert(member: key), to: "/set", index, machine)
        case 3: send(MemberSet.Action.remove(member: key), to: "/set", index, machine)
        case 4: send(Value.Action.set(value: value), to: "/value", index, machine)
        default: send(WireValue.text("no such action"), to: "/map", index, machine)
        }
    }

    // MARK: Owned objects

    private func useLock(_ index: Int, _ machine: ClientMachine) {
        if let token = members[index].lockTokens.popLast() {
            send(Lock.Action.release(token: token), to: "/lock", index, machine)
            return
        }
        let waits = members[index].waits < 2 && world.random.chance(60)
        let isSent = send(Lock.Action.acquire(wait: waits), to: "/lock", index, machine) {
            [unowned self] outcome in
            if waits { members[index].waits -= 1 }
            guard case .applied(_, let reply) = outcome,
                let reply: Lock.Reply = try? reply?.decode()
            else { return }
            members[index].lockTokens.append(reply.token)
        }
        if waits, isSent { members[index].waits += 1 }
    }

    private func useQueue(_ index: Int, _ machine: ClientMachine) {
        if let id = members[index].claims.popLast() {
            let action = world.random.chance(30) ? Queue.Action.fail(id: id) : .finish(id: id)
            send(action, to: "/jobs", index, machine)
            return
        }
        lastToken += 1
        send(Queue.Action.push(job: Self.value(lastToken)), to: "/jobs", index, machine)
        send(Queue.Action.claim, to: "/jobs", index, machine) { [unowned self] outcome in
            guard case .applied(_, let reply) = outcome,
                let reply: Queue.Reply = try? reply?.decode()
            else { return }
            members[index].claims.append(reply.id)
        }
    }

    private func comeOrGo(_ index: Int, _ machine: ClientMachine) {
        let isJoin = world.random.chance(70)
        send(
            isJoin ? Presence.Action.join(info: .text("\(index)")) : .leave, to: "/here", index,
            machine)
    }

    // MARK: The nest

    private func useNest(_ index: Int, _ machine: ClientMachine) {
        let name = ["a", "b", "c"].randomElement(using: &world.random) ?? "a"
        let amount = Int64.random(in: -3...3, using: &world.random)
        let path = "/nest/cells/\(name)"
        let action: Nest.Action
        switch Int.random(in: 0..<12, using: &world.random) {
        case 0: action = .fell(name: name)
        case 1, 2: action = .hatch(name: name)
        case 3: action = .swap(name: name)
        case 4: action = .clear(room: "x")
        case 5: action = .stirAll(by: amount)
        case 6: action = .follow(name: name, by: amount)
        case 7: action = world.random.chance(50) ? .take : .give
        case 8: action = .serve
        case 9: return open(path, machine, index)
        default:
            send(Cell.Action.stir(by: amount), to: path, index, machine)
            return
        }
        send(action, to: "/nest", index, machine)
    }

    private func promise(_ index: Int, _ machine: ClientMachine) {
        lastToken += 1
        let milliseconds = Int64.random(in: 0...8, using: &world.random)
        switch Int.random(in: 0..<3, using: &world.random) {
        case 0: send(Nest.Action.promise(token: lastToken), to: "/nest", index, machine)
        case 1:
            send(
                Nest.Action.plan(token: lastToken, after: milliseconds), to: "/nest", index,
                machine)
        default:
            send(
                Cell.Action.stirLater(after: milliseconds), to: "/nest/cells/a", index, machine)
        }
    }

    private func wait(_ index: Int, _ machine: ClientMachine) {
        guard members[index].waits < 3 else {
            send(Nest.Action.serve, to: "/nest", index, machine)
            return
        }
        let isSent = send(Nest.Action.wait, to: "/nest", index, machine) { [unowned self] _ in
            members[index].waits -= 1
        }
        if isSent { members[index].waits += 1 }
    }

    private func lease(_ index: Int, _ machine: ClientMachine) {
        if let claim = members[index].leases.popLast() { return machine.release(claim) }
        let path = "/nest/rooms/\(["x", "y"].randomElement(using: &world.random) ?? "x")"
        let claim = machine.lease(path, definesLifecycle: world.random.chance(60)) { _ in }
        members[index].leases.append(claim)
        if world.random.chance(50) { open(path, machine, index) }
    }

    private func exchange(_ index: Int, _ machine: ClientMachine) {
        guard members[index].nodes["/nest"] != nil else { return }
        let value = Int.random(in: 1...3, using: &world.random)
        let place = exchanges.count
        exchanges.append(.init(asked: world.timeline.now, answer: nil, value: value))
        send(Nest.Action.exchange(value: value), to: "/nest", index, machine) {
            [unowned self] outcome in
            guard let revision = outcome.revision else { return }
            switch outcome {
            case .applied(_, let reply), .ownerEnded(_, let reply):
                guard let old: Int = try? reply?.decode() else { return }
                exchanges[place].answer = (world.timeline.now, old)
                exchanges[place].sequence = revision.sequence
            default: break
            }
        }
    }
}
