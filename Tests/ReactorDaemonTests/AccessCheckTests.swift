import ReactorCore
import ReactorServer
import ReactorWire
import StockReactors
import Testing

@testable import ReactorDaemon

/// Drives ``AccessCheck``.
@Suite("AccessCheck")
struct AccessCheckTests {
    private let tree = Tree(GuardedRoot(), epoch: 0, recordsDeltas: false)

    private func problem(_ path: String, actions: Set<WireKey> = []) throws -> String? {
        AccessCheck(tree).problem(
            of: AccessRules.Rule(
                try SlicePath(path), to: .anyone, may: AccessRights(.read, actions: actions)))
    }

    @Test("a rule fits if its path and its actions exist")
    func fits() throws {
        #expect(try problem("/") == nil && problem("/visits") == nil)
        #expect(try problem("/visits", actions: ["increment"]) == nil)
        #expect(try problem("/", actions: ["increment", "clear"]) == nil)
    }

    @Test("a missing path and an unknown action are named, with the nearest name")
    func misses() throws {
        let path = try problem("/visist")
        #expect(path == "no node \"visist\" in /, did you mean visits?")
        #expect(try problem("/visits/cuont")?.contains("\"cuont\" in /visits") == true)
        for path in ["/visits/count", "/settings/entries/x", "/count"] {
            let part = try problem(path)
            #expect(part?.contains("a part of the state of") == true, "\(path): \(part ?? "")")
        }
        let action = try problem("/visits", actions: ["increment", "resett"])
        #expect(action == "unknown action \"resett\" at and below /visits, did you mean reset?")
        #expect(try problem("/visits", actions: ["clear"])?.contains("unknown action") == true)
    }
}

/// A counter and a map.
@Reactor
private struct GuardedRoot {
    @Child var visits = Counter()
    @Child var settings = Map()

    enum Action: Sendable { case touch }
    struct State: Sendable { var count = 0 }

    func reduce(state: inout State, mutation: Action) { state.count += 1 }
}
