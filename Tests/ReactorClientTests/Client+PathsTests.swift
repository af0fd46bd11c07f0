import ReactorCore
import StockReactors
import Testing

@testable import ReactorClient

/// The same reactor in another version of the program.
@Reactor
struct OtherHouse {
    @Child var visits = OtherCounter()

    enum Action { case nothing }
    enum Mutation { case nothing }
    struct State { var name = "" }

    func reduce(state: inout State, mutation: Mutation) {}
}

@Suite("Addressing by properties", .timeLimit(.minutes(10)))
struct ClientPathsTests {
    @Test("F64: properties and a path in text lead to the same mirror")
    func same() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let path = ReactorPath(House.self).child(\.$visits)
        let byProperty = try await client.mirror(path)
        let byBoth = try await client.mirror(path, at: "/visits")
        let byText = try await client.mirror(StockReactors.Counter.self, at: "/visits")
        #expect(byProperty === byText && byBoth === byText)
        client.close()
    }

    @Test("F64: a path in text that differs, and another reactor there, are errors that name both")
    func mismatch() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let path = ReactorPath(House.self).child(\.$visits)
        let other = await #expect(throws: ClientError.self) {
            _ = try await client.mirror(path, at: "/other")
        }
        #expect(
            other?.description == "Counter: the properties lead to /visits, the text says /other")
        let stranger = await #expect(throws: ClientError.self) {
            _ = try await client.mirror(ReactorPath(OtherHouse.self).child(\.$visits))
        }
        #expect(
            stranger
                == .otherReactor(path: "/visits", expected: "OtherCounter", actual: "Counter"))
        client.close()
    }

    @Test("a group, whose recorded name is not its type's, is mirrored as a replica")
    func group() async throws {
        let server = try LiveServer(ReactorGroup([("visits", StockReactors.Counter())]))
        let client = try await Client.connect(to: server.path)
        let mirror = try await client.mirror(ReactorPath { ReactorGroup([]) })
        #expect(mirror.isCurrent && mirror.id != nil)
        client.close()
    }

    @Test("F63, F65: across processes, a parent decides on the actions sent to its nested reactors")
    func nested() async throws {
        let server = try LiveServer(Inn())
        let client = try await Client.connect(to: server.path)
        let root = ReactorPath(Inn.self)
        let inn = try await client.mirror(root)
        let guests = try await client.mirror(root.child(\.$guests))
        #expect(await guests.dispatch(.increment(by: 3)).revision != nil)
        #expect(guests.count == 3 && inn.notes == ["3 came"])
        #expect(await inn.dispatch(.clear).revision != nil)
        #expect(guests.count == 0 && inn.notes == ["3 came", "cleared 3", "left"])
        #expect(
            try await client.get("/").value == [
                "guests": ["count": 0], "notes": ["3 came", "cleared 3", "left"],
            ])
        client.close()
    }
}

/// A parent that receives its guests' mutations, and removes guests.
@Reactor
struct Inn {
    @Child var guests = StockReactors.Counter()

    enum Action { case clear }
    enum Mutation { case noted(String) }
    struct State: Equatable { var notes: [String] = [] }

    func mutate(
        action: Action, state: State, context: ReactorContext<Self>
    ) throws(Rejection) -> Mutations<Mutation> {
        let count = context.state(of: $guests).count
        return Mutations(.noted("cleared \(count)")).also($guests, .cleared)
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .noted(let note): state.notes.append(note)
        }
    }

    func react(to change: ChildChange, state: State) -> Mutations<Mutation> {
        switch change.mutation(of: $guests) {
        case .added(let count): [.noted("\(count) came")]
        case .cleared: [.noted("left")]
        case nil: .none
        }
    }
}
