import ReactorCore
import ReactorServer
import ReactorThreads
import Testing

@testable import ReactorClient

/// A call of `perform` returns when the action's effects have ended, over real sockets.
@Suite("perform", .timeLimit(.minutes(10)))
struct PerformTests {
    private let gates = Finder.Gates()

    /// A daemon, kept alive by this value, with a client and its mirror.
    private struct Served {
        let server: LiveServer
        let client: Client
        let mirror: ReactorClient.Mirror<Oven>
    }

    private func start() async throws -> Served {
        let server = try LiveServer(Oven(gates))
        let client = try await Client.connect(to: server.path)
        return Served(
            server: server, client: client,
            mirror: try await client.mirror(Oven(), at: "/"))
    }

    private let first = Revision(epoch: 7, sequence: 1)

    @Test("F47: perform returns when the effects have ended, and the mirror shows their changes")
    func performs() async throws {
        let served = try await start()
        let mirror = served.mirror
        let outcome = Task { await mirror.perform(.bake("rye")) }
        await mirror.until { $0.started == ["rye"] }
        // A later action is answered before the performed one.
        #expect(await mirror.dispatch(.nothing).revision?.sequence == 2)
        #expect(mirror.baked == [])
        gates.open("rye")
        #expect(await outcome.value.revision == first)
        #expect(mirror.baked == ["rye"])
        served.client.close()
    }

    @Test("F47: perform works alike by path, in a batch and in a pipeline")
    func untyped() async throws {
        let served = try await start()
        let mirror = served.mirror
        gates.open("rye")
        gates.open("oat")
        let one = try await served.client.perform("/", Oven.Action.bake("rye"))
        #expect(one.revision == first && mirror.baked == ["rye"])
        let pair = ["rye", "oat"].map { (path: "/", action: WireEmbedded(Oven.Action.bake($0))) }
        let both = try await served.client.batch(pair, awaitsEffects: true)
        #expect(both.revision?.sequence == 3)
        #expect(mirror.baked.sorted() == ["oat", "rye", "rye"])
        let outcomes = Notes<ActionOutcome>()
        let pipeline = try await served.client.pipeline("/", awaitsEffects: true) {
            outcomes.add($1)
        }
        try await pipeline.send([Oven.Action.bake("oat").wireBytes()])
        await outcomes.until(1)
        #expect(mirror.baked.count == 4)
        served.client.close()
    }

    @Test("F47: a rejected action, and one without effects, are done at once")
    func atOnce() async throws {
        let served = try await start()
        let mirror = served.mirror
        #expect(await mirror.perform(.refuse) == .rejected(Rejection("cold", "the oven is cold")))
        #expect(await mirror.perform(.nothing).revision == first)
        served.client.close()
    }

    @Test("F47: a cancelled effect has ended")
    func cancelled() async throws {
        let served = try await start()
        let mirror = served.mirror
        let outcome = Task { await mirror.perform(.bake("rye"), DispatchOptions(cancel: "bread")) }
        await mirror.until { $0.started == ["rye"] }
        #expect(await mirror.cancel("bread").revision?.sequence == 2)
        #expect(await outcome.value.revision == first)
        #expect(mirror.baked == [])
        served.client.close()
    }

    @Test("F47: an effect that throws has ended, and its failure is reported before")
    func throwing() async throws {
        let served = try await start()
        let mirror = served.mirror
        var notices = served.client.notices.makeAsyncIterator()
        gates.open("rye")
        #expect(await mirror.perform(.burn("rye")).revision == first)
        let origin = Origin(client: served.client.welcome.client, ordinal: 1)
        #expect(await notices.next() == .effectFailed(origin, message: "smoke"))
        served.client.close()
    }

    @Test("F47: perform waits through a lost connection, and learns of the end on the next")
    func reconnects() async throws {
        let served = try await start()
        let mirror = served.mirror
        let outcome = Task { await mirror.perform(.bake("rye")) }
        await mirror.until { $0.started == ["rye"] }
        await served.server.cut()
        await served.server.until { $0.repeatCount == 1 }
        #expect(mirror.baked == [])
        gates.open("rye")
        #expect(await outcome.value == .ownerEnded(first, reply: nil))
        #expect(mirror.baked == ["rye"] && mirror.started == ["rye"])
        served.client.close()
    }

    @Test("F47: effects that end while no client is connected are done on the next connection")
    func endsMeanwhile() async throws {
        let served = try await start()
        let mirror = served.mirror
        let outcome = Task { await mirror.perform(.bake("rye")) }
        await mirror.until { $0.started == ["rye"] }
        let gates = gates
        await served.server.on { core in
            core.cut()
            gates.open("rye")
        }
        #expect(await outcome.value.revision == first)
        #expect(mirror.baked == ["rye"] && mirror.started == ["rye"])
        served.client.close()
    }

    @Test("F47: effects end with their daemon: a caller that knows the outcome gets it")
    func restarts() async throws {
        let served = try await start()
        let mirror = served.mirror
        let outcome = Task { await mirror.perform(.bake("rye")) }
        await mirror.until { $0.started == ["rye"] }
        #expect(await mirror.dispatch(.nothing).revision?.sequence == 2)
        served.server.stop()
        let next = try LiveServer(in: served.server.folder, epoch: 8, Oven(gates))
        #expect(await outcome.value == .ownerEnded(first, reply: nil))
        served.client.close()
        next.stop()
    }

    @Test("F47: the outcome settles a preview, long before the action is done")
    func previewed() async throws {
        let served = try await start()
        let mirror = served.mirror
        let outcome = Task { await mirror.perform(.bake("rye"), isPreviewed: true) }
        await mirror.until { $0.started == ["rye"] }
        // The preview is there before the action is sent.
        await served.server.until { $0.actionCount == 1 }
        #expect(await mirror.dispatch(.nothing).revision?.sequence == 2)
        #expect(mirror.started == ["rye"])
        #expect(mirror.replica.withLock { !$0.isOverlaid })
        gates.open("rye")
        #expect(await outcome.value.revision == first)
        served.client.close()
    }

    @Test("F47: sagas over the mirror receive the action when it is applied, not when it is done")
    func sagas() async throws {
        let served = try await start()
        let mirror = served.mirror
        let handle = try await mirror.runSaga { saga in
            try await saga.take { if case .bake(let bread) = $0 { bread } else { nil } }
        }
        let outcome = Task { await mirror.perform(.bake("rye")) }
        #expect(try await handle.value == "rye")
        #expect(mirror.baked == [])
        gates.open("rye")
        #expect(await outcome.value.revision == first)
        served.client.close()
    }

    @Test("F47: a cancelled task ends its wait, and a closed client leaves the action unknown")
    func givesUp() async throws {
        let served = try await start()
        let mirror = served.mirror
        let task = Task { await mirror.perform(.bake("rye")) }
        await mirror.until { $0.started == ["rye"] }
        task.cancel()
        #expect(await task.value == .unknown(.cancelled))
        gates.open("rye")
        await mirror.until { $0.baked == ["rye"] }
        let outcome = Task { await mirror.perform(.bake("oat")) }
        await mirror.until { $0.started == ["rye", "oat"] }
        served.client.close()
        #expect(await outcome.value == .unknown(.ended))
    }
}
