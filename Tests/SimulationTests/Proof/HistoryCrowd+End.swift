import ReactorCore
import ReactorServer
import ReactorTesting
import ReactorWire
import StockReactors

@testable import ReactorClient

// MARK: - Final checks
extension HistoryCrowd {
    /// Runs through the storm and until all work is done, and compares the final states.
    func finish() {
        world.run(for: size.nanoseconds)
        guard isWell else { return }
        world.heal()
        for _ in 0..<200 where isWell && !isAtRest {
            world.run(for: 50_000_000)
            giveBack()
        }
        guard isWell else { return }
        // The final recovery must match all outcomes that clients received.
        crash()
        for _ in 0..<100 where isWell && !isAtRest { world.run(for: 50_000_000) }
        guard isWell else { return }
        compareClients()
        compareList()
        compareExchanges()
    }

    /// Whether the run continues.
    private var isWell: Bool { world.violations.isEmpty && !hasEnded }

    private var stayers: [Int] { members.indices.filter { !members[$0].isVisitor } }

    private var isAtRest: Bool {
        let now = world.server.tree.revision
        guard state("/nest", Nest.self)?.owed == [] else { return false }
        return stayers.allSatisfy { index in
            let machine = members[index].client.machine
            return machine.phase == .live && machine.pendingCount == 0 && machine.revision == now
                && members[index].mirrorFates.keys.allSatisfy {
                    members[index].readers[$0]?() != nil
                }
        }
    }

    /// Releases the objects that clients wait for.
    private func giveBack() {
        for index in stayers {
            members[index].client.act { machine in
                for token in members[index].lockTokens {
                    send(Lock.Action.release(token: token), to: "/lock", index, machine)
                }
                members[index].lockTokens = []
                if members[index].waits > 0 {
                    send(Nest.Action.serve, to: "/nest", index, machine)
                }
            }
        }
    }

    private func compareClients() {
        let now = world.server.tree.revision
        for index in stayers {
            let machine = members[index].client.machine
            world.expect(machine.phase == .live, "client \(index) is not live")
            world.expect(
                machine.pendingCount == 0,
                "client \(index) waits for \(machine.pendingCount) outcomes")
            world.expect(
                machine.revision == now,
                "client \(index) shows \(machine.revision), long after \(now)")
            for (path, fate) in members[index].mirrorFates.sorted(by: { $0.key < $1.key }) {
                world.expect(
                    members[index].readers[path]?() != nil,
                    "client \(index) has no live mirror of \(path): \(fate)")
                compare(path, index, machine.revision)
            }
            compareLastValues(index, now)
        }
    }

    private func state<R: Reactor>(_ path: String, _ type: R.Type) -> R.State? {
        let node = (try? SlicePath(path)).flatMap { world.server.tree.node(at: $0) }
        return (node as? Node<R>)?.state
    }

    /// Checks that the list has the order of the revisions, without gaps and duplicates.
    private func compareList() {
        let items = (state("/list", List.self)?.items ?? []).compactMap(\.intValue)
        let there = Set(items)
        world.expect(there.count == items.count, "a token was appended twice: \(items)")
        world.expect(there.isDisjoint(with: tokens.refused), "a token is there that was refused")
        let left = state("/left", Counter.self)?.count ?? 0
        world.expect(left == state("/right", Counter.self)?.count, "a batch was applied in part")
        guard !hasLost else { return }
        let nest = state("/nest", Nest.self)
        world.expect(nest?.owed == [], "promised and never done: \(nest?.owed ?? [])")
        world.expect(nest?.strayCount == 0, "done twice: \(nest?.strayCount ?? 0)")
        let missing = tokens.applied.keys.filter { !there.contains($0) }
        world.expect(missing.isEmpty, "tokens \(missing) were acknowledged, and are lost")
        let sequences = items.compactMap { tokens.applied[$0] }
        world.expect(sequences == sequences.sorted(), "revisions are in another order: \(items)")
        let most = tokens.added + tokens.openAdded + tokens.unknownAdded
        world.expect(
            (tokens.added...most).contains(left),
            "\(left) was counted, \(tokens.added) are in outcomes, at most \(most) were sent")
    }

    /// Checks that the exchanges are linearizable: in the order of the revisions, and in an order
    /// found without them.
    private func compareExchanges() {
        guard !hasLost else { return }
        var byRevision = exchanges.filter { $0.sequence != nil }
        byRevision.sort { $0.sequence ?? 0 < $1.sequence ?? 0 }
        if byRevision.count == exchanges.count {
            var value = 0
            for exchange in byRevision {
                world.expect(
                    exchange.answer?.value == value,
                    "an exchange was answered \(exchange.answer?.value ?? -1), not \(value)"
                )
                value = exchange.value
            }
        }
        guard exchanges.count <= Linearization.countMax else { return }
        var search = Linearization(exchanges)
        world.expect(search.exists(from: 0), "no order explains the answers")
    }
}
