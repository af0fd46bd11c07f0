import ReactorClient
import ReactorCore
import ReactorTesting
import Testing

// The guide's code for sagas over mirrors, line for line.

@Reactor
struct Shelf {
    enum Action: Equatable {
        case type(String)
        case show([String])
    }
    struct State: Equatable {
        var text = ""
        var titles: [String] = []
    }

    func reduce(state: inout State, mutation: Action) {
        switch mutation {
        case .type(let text): state.text = text
        case .show(let titles): state.titles = titles
        }
    }

    static func search(_ saga: SagaContext<Shelf>) async throws {
        saga.debounce(.milliseconds(300)) {
            if case .type(let text) = $0 { text } else { nil }
        } do: { saga, text in
            try await saga.put(.show(["\(text), the book"]))
        }
    }
}

@Suite("guide: sagas over a mirror", .timeLimit(.minutes(10)))
struct SagasOverMirrorTests {
    @Test("F31, F39: a debounce over a mirror waits on the client's clock")
    func debounce() async throws {
        let daemon = try LiveDaemon(Shelf())
        let (clock, executor) = (ManualClock(), ManualExecutor())
        var options = ClientOptions()
        options.clock = TreeClock(clock)
        options.spawn = TreeEnvironment.spawn(on: executor)
        let client = try await Client.connect(to: daemon.path, options: options)
        let shelf = try await client.mirror(Shelf.self, at: "/")
        let search = try await shelf.runSaga(Shelf.search)
        executor.run()
        for text in ["sw", "swift"] {
            #expect(await shelf.dispatch(.type(text)).revision != nil)
            clock.advance(by: .milliseconds(200)) { executor.run() }
        }
        #expect(clock.sleeperCount == 1 && shelf.state.titles == [])
        clock.advance(by: .milliseconds(100)) { executor.run() }
        for await titles in shelf.states(\.titles) where !titles.isEmpty {
            #expect(titles == ["swift, the book"])
            break
        }
        #expect(shelf.state.text == "swift")
        search.cancel()
        executor.run()
        client.close()
    }
}
