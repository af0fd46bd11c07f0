import ReactorCore
import ReactorServer
import ReactorTesting
import StockReactors

@testable import ReactorClient

// MARK: - Final checks
extension Crowd {
    /// Ends the disturbances, runs until all work is done, and compares the final states.
    func finish() throws {
        world.run(for: 400_000_000)
        world.heal()
        for index in members.indices where members[index].map == nil {
            members[index].client.act { letGoOrMirror(index, $0) }
        }
        world.run(for: 20_000_000_000)
        for _ in 0..<20 { giveBack() }
        world.run(for: 2_000_000_000)
        let tree = world.server.tree
        for index in members.indices {
            compareClient(index)
            compareMirrors(index, tree)
            compareValues(index, tree)
        }
        compareCounts(tree)
        compareQueue(tree)
        compareGrants()
        compareHouse(tree)
        world.expect(
            state(tree, "/lock", Lock.self)?.holder == nil,
            "the lock is held, and no client knows of it")
        world.expect(
            world.server.memory.keptBytes == 0, "bytes are queued though all clients read")
        world.expect(
            Self.bytes(tree.root).count < world.hooks.audit?.stateBytesMax ?? 0,
            "the states outgrew what the audit allows for them")
    }

    /// Makes all clients release the lock, so that none waits for it any more.
    private func giveBack() {
        for index in members.indices {
            members[index].client.act { machine in
                for token in members[index].tokens {
                    send(Lock.Action.release(token: token), to: "/lock", index, machine)
                }
            }
            members[index].tokens = []
        }
        world.run(for: 200_000_000)
    }

    private func compareClient(_ index: Int) {
        let machine = members[index].client.machine
        world.expect(machine.phase == .live, "client \(index) is not live")
        world.expect(
            machine.pendingCount == 0,
            "client \(index) waits for \(machine.pendingCount) outcomes")
    }

    private func compareMirrors(_ index: Int, _ tree: Tree) {
        let member = members[index]
        compare(member.left, Counter.self, tree, index)
        compare(member.right, Counter.self, tree, index)
        compare(member.map, Map.self, tree, index)
        compare(member.list, List.self, tree, index)
        compare(member.jobs, Queue.self, tree, index)
        compare(member.lock, Lock.self, tree, index)
        compare(member.here, Presence.self, tree, index)
        compare(member.house, House.self, tree, index)
        for mirror in member.rooms.values where mirror.phase == .live {
            compare(mirror, Counter.self, tree, index)
        }
    }

    private func compare<R: Reactor>(
        _ mirror: ReactorClient.Mirror<R>?, _ type: R.Type, _ tree: Tree, _ index: Int
    ) where R.State: Equatable {
        guard let mirror else { return world.expect(false, "client \(index) lacks a \(type)") }
        let state = state(tree, mirror.path, type)
        world.expect(state == mirror.state, "client \(index) shows another \(mirror.path)")
        world.expect(mirror.phase == .live, "client \(index): \(mirror.path) is not live")
    }

    private func compareValues(_ index: Int, _ tree: Tree) {
        for (path, feed) in members[index].values where !feed.hasFailed {
            guard let path = try? SlicePath(path) else { continue }
            let (node, field) = tree.resolve(path)
            var writer = WireWriter()
            let isThere = node.encodeValue(at: field, into: &writer) == .found
            let shown = feed.bytes
            world.expect(
                shown == (isThere ? writer.bytes : nil), "client \(index) shows another \(path)")
        }
    }

    private static func bytes(_ node: AnyNode) -> [UInt8] {
        var writer = WireWriter()
        node.encodeValue(into: &writer)
        return writer.bytes
    }

    // MARK: Outcomes compared with states

    private func compareCounts(_ tree: Tree) {
        let ledger = ledgers[tree.revision.epoch] ?? Ledger()
        let items = (state(tree, "/list", List.self)?.items ?? []).compactMap(\.intValue)
        let once = Set(items)
        world.expect(once.count == items.count, "an action was applied twice")
        world.expect(ledger.appended.isSubset(of: once), "an applied action left no trace")
        world.expect(
            once.isSubset(of: ledger.appended.union(unknown.appended)),
            "an action without an outcome was applied")
        let count = state(tree, "/left", Counter.self)?.count ?? 0
        world.expect(
            count >= ledger.added && count <= ledger.added + unknown.added,
            "\(count) was counted, \(ledger.added) are in outcomes, \(unknown.added) unknown")
        let applied = ledgers.values.reduce(0) { $0 + $1.appended.count }
        world.expect(applied > 5, "only \(applied) actions were applied")
    }

    private func compareQueue(_ tree: Tree) {
        guard let jobs = state(tree, "/jobs", Queue.self) else { return }
        let ledger = ledgers[tree.revision.epoch] ?? Ledger()
        let finished = Set(ledger.finished)
        world.expect(finished.count == ledger.finished.count, "a job was finished twice")
        let there =
            jobs.waiting.map(\.job) + jobs.claimed.map(\.value.job) + jobs.failed.map(\.job)
        let tokens = there.compactMap(\.intValue)
        let once = Set(tokens)
        world.expect(once.count == tokens.count, "a job is there twice")
        world.expect(
            once.isSubset(of: ledger.pushed.union(unknown.pushed)), "a job that no client pushed")
        let missing = ledger.pushed.subtracting(once).count
        world.expect(
            missing <= finished.count + unknown.finishCount,
            "\(missing) jobs are gone, \(finished.count) were finished")
    }

    private func compareGrants() {
        for (epoch, ledger) in ledgers {
            let grants = ledger.grants.sorted { $0.key < $1.key }
            world.expect(
                zip(grants, grants.dropFirst()).allSatisfy { $0.value < $1.value },
                "a later grant of the lock has no higher token, in epoch \(epoch)")
        }
    }

    private func compareHouse(_ tree: Tree) {
        let names = state(tree, "/house", House.self)?.names ?? []
        guard let path = try? SlicePath("/house/rooms") else { return }
        let keys = tree.node(at: path)?.children.keys.map(\.text).sorted() ?? []
        world.expect(names == keys, "the house names \(names) and has \(keys)")
    }
}
