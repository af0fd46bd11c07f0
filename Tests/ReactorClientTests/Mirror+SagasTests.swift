import ReactorCore
import StockReactors
import Testing

@testable import ReactorClient
@testable import ReactorServer

/// Counts presses, and keeps answers to them.
@Reactor
struct Buzzer {
    enum Action: Equatable, Sendable {
        case press(Int)
        case answer(String)
        case refuse
    }

    enum Mutation: Equatable, Sendable {
        case pressed(Int)
        case answered(String)
    }

    struct State: Equatable, Sendable {
        var presses = 0
        var answers: [String] = []
    }

    var sagas: [Saga<Buzzer>] = []

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .press(let number): [.pressed(number)]
        case .answer(let text): [.answered(text)]
        case .refuse: throw Rejection("refused", "not this one")
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .pressed(let number): state.presses += number
        case .answered(let text): state.answers.append(text)
        }
    }

    /// The number of a press.
    static let number: @Sendable (Action) -> Int? = {
        if case .press(let number) = $0 { number } else { nil }
    }

    /// Answers each press, and ends when it has seen two answers.
    static func answer(_ saga: SagaContext<Buzzer>) async throws -> Int {
        let handler = saga.takeEvery {
            if case .press(let number) = $0 { number } else { nil }
        } do: { saga, number in
            do {
                try await saga.put(.refuse)
            } catch let rejection as Rejection {
                try await saga.put(.answer("\(number) \(rejection.code)"))
            }
        }
        for _ in 0..<2 {
            _ = try await saga.takeMutation { mutation in
                if case .answered(let text) = mutation { text } else { nil }
            }
        }
        handler.cancel()
        return try await saga.select(\.presses)
    }
}

/// Drives ``MirrorSagaHost`` and ``MirrorSagas``.
@Suite("Mirror+Sagas", .timeLimit(.minutes(10)))
struct MirrorSagasTests {
    private static let answers: Set = ["1 refused", "2 refused"]

    @Test("F31: one saga runs in a store")
    func store() async throws {
        let (rings, bell) = AsyncStream<Void>.makeStream()
        let store = Store(Buzzer(), wake: { bell.yield() })
        let handle = store.runSaga(Buzzer.answer)
        try store.dispatch(.press(1))
        try store.dispatch(.press(2))
        for await _ in rings {
            store.drain()
            if !handle.isRunning { break }
        }
        #expect(try await handle.value == 3)
        #expect(Set(store.state.answers) == Self.answers)
    }

    @Test("F31: the same saga runs in a daemon from its start")
    func daemon() async throws {
        let server = try LiveServer(
            Buzzer(sagas: [Saga { saga in _ = try await Buzzer.answer(saga) }]))
        let client = try await Client.connect(to: server.path)
        let buzzer = try await client.mirror(Buzzer(), at: "/")
        #expect(await buzzer.dispatch(.press(1)).revision != nil)
        #expect(await buzzer.dispatch(.press(2)).revision != nil)
        await server.until { core in
            (core.server.tree.root as? Node<Buzzer>)?.state.answers.count == 2
        }
        let answers = await server.on { core in
            (core.server.tree.root as? Node<Buzzer>)?.state.answers ?? []
        }
        #expect(Set(answers) == Self.answers)
        client.close()
    }

    @Test("F31: the same saga runs in a client's process, over a mirror")
    func mirror() async throws {
        let server = try LiveServer(Buzzer())
        let client = try await Client.connect(to: server.path)
        let buzzer = try await client.mirror(Buzzer(), at: "/")
        let handle = try await buzzer.runSaga(Buzzer.answer)
        buzzer.send(.press(1))
        #expect(await buzzer.dispatch(.press(2)).revision != nil)
        #expect(try await handle.value == 3)
        #expect(Set(buzzer.state.answers) == Self.answers)
        client.close()
    }

    @Test("F38: over a mirror, a refused put ends one run of a handler, and the client reports it")
    func refusedPut() async throws {
        let server = try LiveServer(Buzzer())
        let client = try await Client.connect(to: server.path)
        let buzzer = try await client.mirror(Buzzer(), at: "/")
        let notices = client.notices.makeAsyncIterator()
        let handle = try await buzzer.runSaga { saga in
            saga.takeEvery(Buzzer.number) { saga, number in
                if number == 1 { try await saga.put(.refuse) }
                try await saga.put(.answer("\(number)"))
            }
        }
        #expect(await buzzer.dispatch(.press(1)).revision != nil)
        var reader = notices
        #expect(
            await reader.next()
                == .sagaFailed(path: "/", message: "\(Rejection("refused", "not this one"))"))
        #expect(await buzzer.dispatch(.press(2)).revision != nil)
        await buzzer.until { $0.answers == ["2"] }
        #expect(handle.isRunning)
        handle.cancel()
        client.close()
    }

    @Test("F35: over a mirror, a take in a loop loses nothing, and misses its own saga's puts")
    func loop() async throws {
        let server = try LiveServer(Buzzer())
        let client = try await Client.connect(to: server.path)
        let buzzer = try await client.mirror(Buzzer(), at: "/")
        let handle = try await buzzer.runSaga { saga in
            var numbers: [Int] = []
            while numbers.count < 5 {
                let number = try await saga.take(Buzzer.number)
                numbers.append(number)
                try await saga.put(.press(100))
            }
            return numbers
        }
        for number in 1...5 { buzzer.send(.press(number)) }
        #expect(try await handle.value == [1, 2, 3, 4, 5])
        client.close()
    }

    @Test("F35: over a mirror, a saga sees this process's actions, and every client's mutations")
    func ownAndOthers() async throws {
        let server = try LiveServer(Buzzer())
        let client = try await Client.connect(to: server.path)
        let other = try await Client.connect(to: server.path)
        let buzzer = try await client.mirror(Buzzer(), at: "/")
        let handle = try await buzzer.runSaga { saga in
            let mutation = saga.fork { saga in
                try await saga.takeMutation {
                    if case .pressed(let number) = $0 { number } else { nil }
                }
            }
            let action = saga.fork { saga in
                try await saga.take { if case .press(let number) = $0 { number } else { nil } }
            }
            return [try await saga.join(mutation), try await saga.join(action)]
        }
        #expect(try await other.dispatch("/", Buzzer.Action.press(1)).revision != nil)
        try await buzzer.reached(Revision(epoch: 7, sequence: 1))
        #expect(await buzzer.dispatch(.press(2)).revision != nil)
        #expect(try await handle.value == [1, 2])
        client.close()
        other.close()
    }

    @Test("F37: over a mirror, a full channel refuses this process's actions before they are sent")
    func busy() async throws {
        let server = try LiveServer(Buzzer())
        let client = try await Client.connect(to: server.path)
        let other = try await Client.connect(to: server.path)
        let buzzer = try await client.mirror(Buzzer(), at: "/")
        let (opened, tell) = AsyncStream<Void>.makeStream()
        let handle = try await buzzer.runSaga { saga in
            let channel = try await saga.channel(of: Buzzer.number, capacity: 2)
            tell.finish()
            _ = try await saga.take(where: { $0 == .answer("go") })
            var sum = 0
            for _ in 0..<3 { sum += try await saga.take(from: channel) ?? 0 }
            return sum
        }
        for await _ in opened {}
        // The daemon runs no saga of this reactor, so only this process can reject with BUSY.
        #expect(await buzzer.dispatch(.press(1)).revision != nil)
        #expect(await buzzer.dispatch(.press(2)).revision != nil)
        let refused = await buzzer.dispatch(.press(4), isPreviewed: true)
        #expect(
            refused
                == .rejected(
                    Rejection(.busy, "/: 2 actions wait for a saga, the maximum: try again")))
        #expect(buzzer.state.presses == 3)
        #expect(try await other.dispatch("/", Buzzer.Action.press(8)).revision != nil)
        #expect(await buzzer.dispatch(.answer("go")).revision != nil)
        // The channel has room again once the saga has taken an action from it.
        var outcome = await buzzer.dispatch(.press(16))
        while case .rejected = outcome { outcome = await buzzer.dispatch(.press(16)) }
        #expect(try await handle.value == 1 + 2 + 16)
        #expect(buzzer.state.presses == 1 + 2 + 8 + 16)
        client.close()
        other.close()
    }

    @Test("F37: over a mirror, an action that the daemon refuses frees its place in the channel")
    func refusedByDaemon() async throws {
        let server = try LiveServer(Buzzer())
        let client = try await Client.connect(to: server.path)
        let buzzer = try await client.mirror(Buzzer(), at: "/")
        let (opened, tell) = AsyncStream<Void>.makeStream()
        let handle = try await buzzer.runSaga { saga in
            let channel = try await saga.channel(of: { $0 }, capacity: 1)
            tell.finish()
            let _: Int = try await saga.call { _ in }
            return channel.count
        }
        for await _ in opened {}
        let refusal = Rejection("refused", "not this one")
        for _ in 0..<3 { #expect(await buzzer.dispatch(.refuse) == .rejected(refusal)) }
        #expect(await buzzer.dispatch(.press(1)).revision != nil)
        #expect(await buzzer.dispatch(.press(1)) != .rejected(refusal))
        #expect(buzzer.state.presses == 1)
        handle.cancel()
        client.close()
    }

    @Test("F37: over a mirror, others' mutations end a full channel, and waiting ones are not lost")
    func overrun() async throws {
        let server = try LiveServer(Buzzer())
        let client = try await Client.connect(to: server.path)
        let other = try await Client.connect(to: server.path)
        let buzzer = try await client.mirror(Buzzer(), at: "/")
        let (opened, tell) = AsyncStream<Void>.makeStream()
        let handle = try await buzzer.runSaga { saga in
            let channel = try await saga.mutations.channel(
                of: { if case .pressed(let number) = $0 { number } else { nil } }, capacity: 2)
            tell.finish()
            _ = try await saga.take(where: { $0 == .answer("go") })
            return [
                try await saga.take(from: channel), try await saga.take(from: channel),
                try await saga.take(from: channel),
            ]
        }
        for await _ in opened {}
        for number in 1...3 {
            #expect(try await other.dispatch("/", Buzzer.Action.press(number)).revision != nil)
        }
        #expect(await buzzer.dispatch(.answer("go")).revision != nil)
        let overrun = SagaError.overrun(path: "/", capacity: 2)
        await #expect(throws: overrun) { try await handle.value }
        #expect(buzzer.state.presses == 6)
        client.close()
        other.close()
    }

    @Test("F32: over a mirror, a saga that looks up reactors forever keeps no released one")
    func lookingUp() async throws {
        let server = try LiveServer(House())
        let client = try await Client.connect(to: server.path)
        let house = try await client.mirror(House(), at: "/")
        let (done, tell) = AsyncStream<Void>.makeStream()
        let handle = try await house.runSaga { saga in
            for _ in 0..<20 {
                let visits = try await saga.reactor(StockReactorsCounter.self, at: "/visits")
                try await visits.put(.increment(by: 1))
            }
            tell.finish()
            let _: Int = try await saga.call { _ in }
        }
        for await _ in done {}
        // The client unsubscribes the released mirror, so the house's slice is the only one left.
        await server.until { $0.subscriptionCounts == [1] }
        handle.cancel()
        client.close()
    }

    @Test("F32: over a mirror, a saga puts to other nodes and follows them")
    func elsewhere() async throws {
        let server = try LiveServer(House())
        let client = try await Client.connect(to: server.path)
        let house = try await client.mirror(House(), at: "/")
        let handle = try await house.runSaga { saga in
            try await saga.put(StockReactorsCounter.Action.increment(by: 2), to: "/visits")
            let visits = try await saga.reactor(StockReactorsCounter.self, at: "/visits")
            try await visits.put(.increment(by: 3))
            var texts = ["\(try await visits.select(\.count))"]
            do { try await saga.put(StockReactorsCounter.Action.reset, to: "/nowhere") } catch {
                texts.append("nowhere")
            }
            do { _ = try await saga.reactor(StockReactorsCounter.self, at: "/nowhere") } catch {
                texts.append("\(error as? SagaError == .gone(path: "/nowhere"))")
            }
            return texts
        }
        #expect(try await handle.value == ["5", "nowhere", "true"])
        client.close()
    }

    @Test("F31: a saga over a mirror ends with its client, and through its handle")
    func ends() async throws {
        let server = try LiveServer(Buzzer())
        let client = try await Client.connect(to: server.path)
        let buzzer = try await client.mirror(Buzzer(), at: "/")
        let cancelled = try await buzzer.runSaga { saga in let _: Int = try await saga.call { _ in }
        }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        let sleeping = try await buzzer.runSaga { saga in let _: Int = try await saga.call { _ in }
        }
        let taking = try await buzzer.runSaga { saga in "\(try await saga.take())" }
        client.close()
        await #expect(throws: SagaError.self) { try await sleeping.value }
        await #expect(throws: SagaError.self) { try await taking.value }
        await #expect(throws: ClientError.self) { _ = try await buzzer.runSaga { _ in } }
    }

    @Test("F31: no saga begins over a mirror that has ended, and no saga waits for one")
    func afterTheEnd() async throws {
        let server = try LiveServer(Guesthouse())
        let client = try await Client.connect(to: server.path)
        let inn = try await client.mirror(Guesthouse.self, at: "/")
        #expect(await inn.dispatch(.open("a")).revision != nil)
        let hall = try await client.mirror(StockReactorsCounter.self, at: "/halls/a")
        let ended = Gate()
        let waiting = try await inn.runSaga { saga in
            let hall = try await saga.reactor(StockReactorsCounter.self, at: "/halls/a")
            try await saga.put(.close("a"))
            await ended.pass()
            _ = try await hall.take()
        }
        await hall.until { $0.phase == .failed(.gone(path: "/halls/a")) }
        ended.open()
        await #expect(throws: SagaError.gone(path: "/halls/a")) { try await waiting.value }
        await #expect(throws: ClientError.gone(path: "/halls/a")) {
            _ = try await hall.runSaga { saga in _ = try await saga.take() }
        }
        client.close()
    }
}

private typealias StockReactorsCounter = StockReactors.Counter
