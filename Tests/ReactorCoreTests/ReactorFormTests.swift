import Synchronization
import Testing

@testable import ReactorCore

/// Counts the computations of its schema.
private struct Costly: Reactor {
    static let asked = Mutex(0)

    struct State: WireCodable, Sendable {
        func encode(into writer: inout WireWriter) { writer.map(count: 0) }

        static func decode(
            _ bytes: Span<UInt8>, _ cursor: inout WireCursor
        ) throws(WireError) -> State {
            try cursor.skip(in: bytes)
            return State()
        }

        static var wireSchema: WireSchema {
            Costly.asked.withLock { $0 += 1 }
            return .map(.any)
        }
    }

    typealias Action = NoReply

    var initialState: State { State() }
}

@Suite("ReactorForm")
struct ReactorFormTests {
    @Test("the fingerprint of a type is computed once")
    func once() {
        let first = Costly.fingerprint
        let count = Costly.asked.withLock { $0 }
        let tree = Tree(ReactorGroup([("a", Costly()), ("b", Costly())]), epoch: 1)
        for path in [SlicePath(["a"]), SlicePath(["b"])] {
            #expect(tree.node(at: path)?.fingerprint == first)
            #expect(tree.node(at: path)?.reactorName == "Costly")
        }
        #expect(Costly.asked.withLock { $0 } == count)
        #expect(Costly.fingerprint != ReactorGroup.fingerprint)
    }

    @Test("a group is recorded under the name that earlier histories have")
    func group() throws {
        #expect(Tree(ReactorGroup([]), epoch: 1).root.reactorName == "Group")
        #expect(ReactorGroup.reactorName == "Group")
        // The names of the types are part of the form that clients and histories compare.
        let form = WireSchema.record(.init(name: "Group.State", doc: "Empty.", fields: []))
        #expect(ReactorGroup.State.wireSchema == form)
        #expect(try ReactorGroup.State(wireBytes: ReactorGroup.State().wireBytes()) == .init())
    }
}
