import ReactorClient
import ReactorCore
import ReactorTesting
import ReactorWire
import StockReactors

// MARK: - Clients' work
extension Crowd {
    func work(_ index: Int) {
        let pause = UInt64.random(in: 100_000...10_000_000, using: &world.random)
        world.timeline.after(pause) { [unowned self] in
            guard world.chance.isStormy else { return }
            for _ in 0..<Int.random(in: 1...8, using: &world.random) { act(index) }
            work(index)
        }
    }

    private func act(_ index: Int) {
        let member = members[index]
        lastToken += 1
        let token = lastToken
        member.client.act { machine in
            switch Int.random(in: 0..<13, using: &world.random) {
            case 0, 1: addToBoth(index, machine)
            case 2: setInMap(index, machine)
            case 3: sendNonsense(index, machine)
            case 4, 5: useLock(index, machine)
            case 6, 7: useQueue(index, machine, token)
            case 8: comeOrGo(index, machine)
            case 9: useHouse(index, machine)
            case 10: letGoOrMirror(index, machine)
            default: append(token, index, machine)
            }
        }
    }

    /// Sends an action and passes on its outcome.
    func send(
        _ action: some WireCodable, to path: String, _ index: Int, _ machine: ClientMachine,
        then: @escaping (ActionOutcome) -> Void = { _ in }
    ) {
        guard let node = members[index].nodes[path] else { return }
        let conclude = { [unowned self] (outcome: ActionOutcome) in
            check(outcome, index)
            then(outcome)
        }
        var outgoing = OutgoingAction(action, to: node)
        outgoing.awaitsEffects = world.random.chance(10)
        try? machine.submit(outgoing, then: conclude)
    }

    /// Checks that a client with the outcome of an applied action also shows the action's effect.
    private func check(_ outcome: ActionOutcome, _ index: Int) {
        guard let revision = outcome.revision else { return }
        let shown = members[index].client.machine.revision
        guard members[index].left?.phase == .live, shown.epoch == revision.epoch else { return }
        world.expect(
            shown.sequence >= revision.sequence,
            "client \(index) has outcome \(revision) while it shows \(shown)")
    }

    private func amount() -> Int64 { Int64.random(in: 1...9, using: &world.random) }

    // MARK: Counters, map, list

    private func addToBoth(_ index: Int, _ machine: ClientMachine) {
        guard let left = members[index].nodes["/left"], let right = members[index].nodes["/right"]
        else { return }
        let amount = amount()
        let add = WireEmbedded(Counter.Action.increment(by: amount))
        try? machine.submit(OutgoingAction(batch: [(left, add), (right, add)])) {
            [unowned self] outcome in
            check(outcome, index)
            if let epoch = outcome.revision?.epoch {
                ledgers[epoch, default: Ledger()].added += amount
            }
            if outcome.isUnknown { unknown.added += amount }
        }
    }

    private func setInMap(_ index: Int, _ machine: ClientMachine) {
        let amount = Int(amount())
        let text = String(repeating: "x", count: amount * 40)
        send(
            Map.Action.set(key: WireKey("\(amount)"), value: .text(text)), to: "/map", index,
            machine)
    }

    private func sendNonsense(_ index: Int, _ machine: ClientMachine) {
        send(WireValue.text("no such action"), to: "/map", index, machine) { [unowned self] in
            world.expect($0.revision == nil, "nonsense was applied")
        }
    }

    private func append(_ token: Int, _ index: Int, _ machine: ClientMachine) {
        let action = List.Action.append(value: .integer(WireInteger(exactly: token) ?? 0))
        send(action, to: "/list", index, machine) { [unowned self] outcome in
            if let epoch = outcome.revision?.epoch {
                ledgers[epoch, default: Ledger()].appended.insert(token)
            }
            if outcome.isUnknown { unknown.appended.insert(token) }
        }
    }

    // MARK: Owned objects

    private func useLock(_ index: Int, _ machine: ClientMachine) {
        if let token = members[index].tokens.popLast() {
            return send(Lock.Action.release(token: token), to: "/lock", index, machine)
        }
        // A client whose actions all wait for the lock could not send one to release it.
        let waits = members[index].waits < 3 && world.random.chance(60)
        if waits { members[index].waits += 1 }
        send(Lock.Action.acquire(wait: waits), to: "/lock", index, machine) {
            [unowned self] outcome in
            if waits { members[index].waits -= 1 }
            guard let revision = outcome.revision,
                let reply: Lock.Reply = Self.reply(outcome)
            else { return }
            let earlier = ledgers[revision.epoch, default: Ledger()].grants
                .updateValue(reply.token, forKey: revision.sequence)
            world.expect(earlier == nil, "two grants of the lock at \(revision)")
            if case .applied = outcome { members[index].tokens.append(reply.token) }
        }
    }

    private func useQueue(_ index: Int, _ machine: ClientMachine, _ token: Int) {
        if let id = members[index].claims.popLast() { return end(id, index, machine) }
        if world.random.chance(50) {
            let job = WireValue.integer(WireInteger(exactly: token) ?? 0)
            return send(Queue.Action.push(job: job), to: "/jobs", index, machine) {
                [unowned self] outcome in
                if let epoch = outcome.revision?.epoch {
                    ledgers[epoch, default: Ledger()].pushed.insert(token)
                }
                if outcome.isUnknown { unknown.pushed.insert(token) }
            }
        }
        send(Queue.Action.claim, to: "/jobs", index, machine) { [unowned self] outcome in
            if case .applied = outcome, let reply: Queue.Reply = Self.reply(outcome) {
                members[index].claims.append(reply.id)
            }
        }
    }

    private func end(_ id: UInt64, _ index: Int, _ machine: ClientMachine) {
        if world.random.chance(30) {
            return send(Queue.Action.fail(id: id), to: "/jobs", index, machine)
        }
        send(Queue.Action.finish(id: id), to: "/jobs", index, machine) { [unowned self] outcome in
            if let epoch = outcome.revision?.epoch {
                ledgers[epoch, default: Ledger()].finished.append(id)
            }
            if outcome.isUnknown { unknown.finishCount += 1 }
        }
    }

    private func comeOrGo(_ index: Int, _ machine: ClientMachine) {
        let isJoin = world.random.chance(70)
        send(
            isJoin ? Presence.Action.join(info: .text("\(index)")) : .leave, to: "/here", index,
            machine)
    }

    // MARK: Dynamic children

    private func useHouse(_ index: Int, _ machine: ClientMachine) {
        let name = Self.roomNames.randomElement(using: &world.random) ?? "a"
        let path = "/house/rooms/\(name)"
        for (path, feed) in members[index].values where feed.hasFailed {
            watch(path, machine, index)
        }
        switch Int.random(in: 0..<5, using: &world.random) {
        case 0: send(House.Action.tear(name: name), to: "/house", index, machine)
        case 1: send(House.Action.build(name: name), to: "/house", index, machine)
        case 2:
            open(path, machine, index)
            machine.mirror(Counter(), at: path) { [unowned self] in
                if let mirror = try? $0.get() { members[index].rooms[name] = mirror }
            }
        default: send(Counter.Action.increment(), to: path, index, machine)
        }
    }

    private static func reply<Reply: WireCodable>(_ outcome: ActionOutcome) -> Reply? {
        switch outcome {
        case .applied(_, let reply), .ownerEnded(_, let reply): try? reply?.decode()
        case .accepted, .rejected, .failed, .unknown: nil
        }
    }
}
