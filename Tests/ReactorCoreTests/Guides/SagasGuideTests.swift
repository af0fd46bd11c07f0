import ReactorCore
import Testing

// The code of the guide on sagas, line for line.

@Reactor
struct Library {
    enum Action: Equatable {
        case search(String)
        case found([String])
        case borrow(String)
        case remind(String)
        case giveBack(String)
    }
    struct State: Equatable {
        var found: [String] = []
        var log: [String] = []
    }

    let books: @Sendable (String) async throws -> [String]

    var sagas: [Saga<Self>] {
        [
            Saga { [books] saga in
                saga.debounce(.milliseconds(300)) {
                    if case .search(let text) = $0 { text } else { nil }
                } do: { saga, text in
                    try await saga.put(.found(try await saga.async { try await books(text) }))
                }
                saga.takeEvery {
                    if case .borrow(let title) = $0 { title } else { nil }
                } do: { saga, title in
                    let back = try await saga.take(
                        timeout: .seconds(14), where: { $0 == .giveBack(title) })
                    if back == nil { try await saga.put(.remind(title)) }
                }
            }
        ]
    }

    func reduce(state: inout State, mutation: Action) {
        switch mutation {
        case .found(let titles): state.found = titles
        case .search, .borrow, .remind, .giveBack: state.log.append("\(mutation)")
        }
    }
}

@Reactor
struct NewsFeed {
    enum Action: Equatable { case arrived(Int) }
    enum Mutation: Equatable {
        case arrived(Int)
        case lost(String)
    }
    struct State: Equatable {
        var last = 0
        var problem: String?
    }

    let numbers: @Sendable (_ after: Int) -> AsyncThrowingStream<Int, any Error>

    var sagas: [Saga<Self>] {
        [
            Saga("feed", restart: .backoff(most: .seconds(10), giveUpAfter: 20)) { [numbers] saga in
                let last = try await saga.select(\.last)
                for try await number in numbers(last) { try await saga.put(.arrived(number)) }
            }
        ]
    }

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .arrived(let number): [.arrived(number)]
        }
    }

    func sagaFailed(_ failure: SagaFailure, state: State) -> Mutations<Mutation> {
        failure.restartsAfter == nil ? [.lost("\(failure.error)")] : .none
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .arrived(let number): state.last = number
        case .lost(let problem): state.problem = problem
        }
    }
}

@Suite("guide: sagas")
struct SagasGuideTests {
    private let bench = StoreBench(Library(books: { ["\($0), the book"] }))

    @Test("F39: a debounced search runs once, with the last text")
    func search() throws {
        bench.settle()
        try bench.send(.search("sw"))
        bench.advance(by: .milliseconds(200))
        try bench.send(.search("swift"))
        bench.advance(by: .milliseconds(200))
        #expect(bench.state.found == [])
        bench.advance(by: .milliseconds(100))
        #expect(bench.state.found == ["swift, the book"])
    }

    @Test("F36, F38: each loan waits for its own return, and sends a reminder in time")
    func loans() throws {
        bench.settle()
        try bench.send(.borrow("a"))
        try bench.send(.borrow("b"))
        bench.advance(by: .seconds(10))
        try bench.send(.giveBack("a"))
        bench.advance(by: .seconds(10))
        #expect(bench.state.log.last == #"remind("b")"#)
        #expect(!bench.state.log.contains(#"remind("a")"#))
    }

    @Test("a feed that breaks off is read again, from the last number on")
    func feed() throws {
        let bench = StoreBench(
            NewsFeed(numbers: { last in
                AsyncThrowingStream { input in
                    for number in last + 1...last + 2 { input.yield(number) }
                    input.finish(throwing: Broken())
                }
            }))
        bench.settle()
        #expect(bench.state.last == 2)
        bench.advance(by: .milliseconds(100))
        #expect(bench.state.last == 4 && bench.state.problem == nil)
        bench.advance(by: .seconds(60))
        #expect(bench.state.last > 10)
    }

    @Test("F35: a loop of takes handles actions that arrived while it was busy")
    func loop() throws {
        bench.settle()
        let handle = bench.run { saga in
            while true {
                let text = try await saga.take {
                    if case .search(let text) = $0 { text } else { nil }
                }
                try await saga.sleep(for: .milliseconds(300))
                try await saga.put(.found([text]))
            }
        }
        var found: [String] = []
        let token = bench.store.observe { state in
            if state.found != [found.last ?? ""] { found += state.found }
        }
        try bench.send(.search("a"), .search("b"))
        bench.advance(by: .milliseconds(600))
        #expect(found.filter { $0.count == 1 } == ["a", "b"])
        withExtendedLifetime(token) {}
        handle.cancel()
        bench.settle()
    }
}
