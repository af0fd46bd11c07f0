import Testing

@testable import ReactorCore

/// A reactor whose effects hand their emitters to the test.
@Reactor
private struct Sensor {
    let emitters: Kept<Held>
    let notes: Notes

    enum Action: Equatable, Sendable {
        case open
        case forget
        case fail
        case cancel
    }
    enum Mutation: Equatable, Sendable {
        case measured(Int)
        case failed(String)
    }
    struct State: Equatable, Sendable {
        var values: [Int] = []
        var failures: [String] = []
    }

    /// An emitter that the test releases when it likes.
    struct Held: Sendable { let emit: CallbackEmitter<Mutation> }

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .open:
            .none.effect(
                .callback(cancelID: "open", deadline: .seconds(60)) { [emitters, notes] emit in
                    emit.onEnd { notes.add("ended") }
                    emitters.keep(Held(emit: emit))
                })
        case .forget:
            .none.effect(
                .callback { [notes] emit in
                    emit.onEnd { notes.add("forgotten") }
                    emit(.measured(0))
                })
        case .fail:
            .none.effect(
                .callback { [notes] emit in
                    emit.onEnd { notes.add("failed") }
                    throw Broken()
                })
        case .cancel: .none.cancelling("open")
        }
    }

    func error(_ error: any Error, action: Action?, state: State) -> Mutations<Mutation> {
        [.failed("\(error)")]
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .measured(let value): state.values.append(value)
        case .failed(let text): state.failures.append(text)
        }
    }
}

/// Drives ``CallbackEmitter``.
@Suite("Effects with callbacks")
struct CallbackEffectTests {
    private let notes = Notes()
    private let emitters = Kept<Sensor.Held>()
    private let bench: StoreBench<Sensor>

    init() { bench = StoreBench(Sensor(emitters: emitters, notes: notes)) }

    private var isOpen: Bool { !bench.store.core.tree.effects.running.isEmpty }

    @Test("a callback emits after the body has returned, until it completes the effect")
    func finish() throws {
        try bench.send(.open)
        let emit = try #require(emitters.all.first).emit
        for value in 1...2 { emit(.measured(value)) }
        bench.settle()
        #expect(bench.state.values == [1, 2] && isOpen && notes.all == [])
        emit(.measured(3))
        emit.complete()
        emit.complete(throwing: Broken())
        bench.settle()
        #expect(bench.state == Sensor.State(values: [1, 2, 3]) && !isOpen)
        #expect(notes.all == ["ended"])
        emit.onEnd { [notes] in notes.add("at once") }
        #expect(notes.all == ["ended", "at once"])
        emit(.measured(4))
        emit(.measured(5))
        bench.settle()
        #expect(bench.state.values == [1, 2, 3] && bench.complaints.count == 1)
        #expect(bench.complaints.first?.contains("effect \"open\" of ReactorCoreTests/") ?? false)
    }

    @Test("an effect whose emitter is released ends")
    func release() throws {
        try bench.send(.forget)
        #expect(bench.state.values == [0] && !isOpen && notes.all == ["forgotten"])
        #expect(bench.complaints.isEmpty)
    }

    @Test("a cancelled effect runs its jobs, and later emissions are dropped silently")
    func cancel() throws {
        try bench.send(.open)
        try bench.send(.cancel)
        #expect(!isOpen && notes.all == ["ended"])
        emitters.all.first?.emit(.measured(1))
        bench.settle()
        #expect(bench.state == Sensor.State() && bench.complaints.isEmpty)
        #expect(bench.store.core.tree.effects.orphans.isEmpty)
    }

    @Test("an effect with callbacks fails by its body, by complete, and by its deadline")
    func failures() throws {
        try bench.send(.fail)
        #expect(bench.state.failures == ["broken"] && notes.all == ["failed"])
        try bench.send(.open)
        emitters.all.last?.emit.complete(throwing: Broken())
        bench.settle()
        #expect(bench.state.failures == ["broken", "broken"] && notes.all.count == 2)
        try bench.send(.open)
        bench.advance(by: .seconds(60))
        #expect(bench.state.failures.count == 3 && notes.all.count == 3 && !isOpen)
    }

    @Test("a last emission ends the effect in its transaction")
    func last() throws {
        try bench.send(.open)
        emitters.all.first?.emit.last(.measured(7))
        bench.settle()
        #expect(bench.state.values == [7] && !isOpen && notes.all == ["ended"])
    }
}
