import ReactorCore
import StockReactors
import Testing

@testable import ReactorClient

/// Shows a counter as text.
private final class Label: ReactorConsumer {
    let seat = ReactorSeat<StockReactors.Counter>()
    let shown = Notes<String>()
    private(set) var bound: [String] = []

    func bind(reactor: Mirror<StockReactors.Counter>, into bag: BindingBag) {
        bound.append(reactor.path)
        let shown = shown
        let path = reactor.path
        bag.follow(reactor.states(\.count)) { shown.add("\(path) \($0)") }
    }
}

/// Shows the counts and the alerts of an album, and raises both in its first call.
private final class Alarm: ReactorConsumer {
    let seat = ReactorSeat<Album>()
    let shown = Notes<String>()

    func bind(reactor: Mirror<Album>, into bag: BindingBag) {
        let shown = shown
        bag.follow(reactor.states(\.count)) { count in
            if count == 0 { reactor.send(.count(1)) }
            shown.add("count \(count)")
        }
        bag.follow(reactor.pulse(\.$alert)) { shown.add("alert \($0 ?? "")") }
        reactor.send(.alert("first"))
    }
}

/// Ends at once, and records that it was read.
private struct Marked: AsyncSequence, Sendable {
    let begun = Notes<Bool>()

    struct AsyncIterator: AsyncIteratorProtocol {
        mutating func next() async -> Int? { nil }
    }

    func makeAsyncIterator() -> AsyncIterator {
        begun.add(true)
        return AsyncIterator()
    }
}

@Suite("ReactorConsumer", .timeLimit(.minutes(10)))
struct ReactorConsumerTests {
    private typealias Counter = StockReactors.Counter

    @Test("F75: assigning a mirror binds it, another replaces it, and nil unbinds")
    func assign() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let visits = try await client.mirror(Counter.self, at: "/visits")
        let other = try await client.mirror(Counter.self, at: "/other")
        let label = Label()
        label.reactor = visits
        await label.shown.until(1)
        #expect(await visits.dispatch(.increment(by: 1)).revision != nil)
        #expect(await label.shown.until(2) == ["/visits 0", "/visits 1"])
        label.reactor = other
        #expect(await label.shown.until(3).last == "/other 0")
        #expect(await visits.dispatch(.increment(by: 1)).revision != nil)
        #expect(await other.dispatch(.increment(by: 5)).revision != nil)
        #expect(await label.shown.until(4).last == "/other 5")
        label.reactor = nil
        #expect(label.reactor === nil && label.bound == ["/visits", "/other"])
        #expect(await other.dispatch(.increment(by: 5)).revision != nil)
        label.reactor = visits
        #expect(await label.shown.until(5).last == "/visits 2")
        client.close()
    }

    @Test("F76: a deferred binding waits for the first state; only the last assigned binds, once")
    func deferred() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let label = Label()
        let isFirstBound = try await label.show { () async throws(ClientError) in
            let mirror = try await client.mirror(Counter.self, at: "/visits")
            // The program assigns another mirror while this one is on its way.
            label.reactor = try await client.mirror(Counter.self, at: "/other")
            return mirror
        }
        #expect(!isFirstBound && label.bound == ["/other"])
        let isBound = try await label.show { () async throws(ClientError) in
            #expect(label.bound == ["/other"])
            return try await client.mirror(Counter.self, at: "/visits")
        }
        #expect(isBound && label.bound == ["/other", "/visits"])
        #expect(label.reactor?.isCurrent == true)
        client.close()
    }

    @Test("F75: a consumer that sends actions while it binds is shown their results")
    func actingAtOnce() async throws {
        let server = try LiveServer(Album())
        let client = try await Client.connect(to: server.path)
        let alarm = Alarm()
        alarm.reactor = try await client.mirror(Album.self, at: "/")
        let shown = await alarm.shown.until(3)
        #expect(shown.sorted() == ["alert first", "count 0", "count 1"])
        client.close()
    }

    @Test("F75: a bag begins to read a sequence before follow returns")
    func begins() {
        let (bag, source) = (BindingBag(), Marked())
        bag.follow(source) { _ in }
        #expect(source.begun.all == [true])
    }

    @Test("F75: a released bag ends its work, and cancels later work at once")
    func bag() async {
        var bag: BindingBag? = BindingBag()
        let task = Task { while !Task.isCancelled { await Task.yield() } }
        bag?.add(task)
        bag = nil
        await task.value
        let ended = BindingBag()
        ended.cancel()
        let late = Task { while !Task.isCancelled { await Task.yield() } }
        ended.add(late)
        await late.value
        #expect(task.isCancelled && late.isCancelled && bag === nil)
    }
}
