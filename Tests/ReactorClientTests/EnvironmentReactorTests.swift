import ReactorCore
import StockReactors
import Testing

@testable import ReactorClient

/// Code that finds its reactors in the enclosing scope.
private struct Screen {
    @EnvironmentReactor var house: Mirror<House>
    @EnvironmentReactor(ReactorPath(House.self).child(\.$visits)) var visits
    @EnvironmentReactor(at: "/other") var other: Mirror<StockReactors.Counter>
}

@Suite("EnvironmentReactor", .timeLimit(.minutes(10)))
struct EnvironmentReactorTests {
    private typealias Counter = StockReactors.Counter

    @Test("F73: code in the scope finds mirrors by type, path and properties, in its tasks too")
    func finds() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let house = try await client.mirror(House.self, at: "/")
        let visits = try await client.mirror(Counter.self, at: "/visits")
        let other = try await client.mirror(Counter.self, at: "/other")
        let page = Screen()
        await ReactorEnvironment.with(house, visits, other) {
            #expect(page.house === house && page.visits === visits && page.other === other)
            let inner = Task { page.visits.path }
            #expect(await inner.value == "/visits")
            #expect(ReactorEnvironment.mirror(of: Counter.self) === other)
            await ReactorEnvironment.with(visits) {
                #expect(ReactorEnvironment.mirror(of: Counter.self) === visits)
                #expect(page.house === house)
            }
        }
        #expect(ReactorEnvironment.mirror(of: House.self) === nil)
        client.close()
    }
}
