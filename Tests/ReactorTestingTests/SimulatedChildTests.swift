import ReactorCore
import Testing

@testable import ReactorTesting

/// Drives ``SimulatedChild`` and ``SimulatedOwner``.
@Suite("Keys of children in a simulation")
struct SimulatedChildTests {
    private func child(_ path: String, in pattern: String) throws -> SimulatedChild<Int> {
        SimulatedChild(
            path: try SlicePath(path), state: 0, pattern: try SlicePath(pattern).components)
    }

    @Test("a child has its own key and those of its pattern, as the types that are asked for")
    func keys() throws {
        let run = try child("/hosts/3/projects/web/runs/7", in: "/hosts/*/projects/*/runs")
        #expect(run.key() == 7 && run.key == "7")
        #expect(run.key(at: 0) == 3)
        #expect(run.key(at: 1, as: String.self) == "web")
    }

    @Test("a key of another type, and a star that is not there, are nil")
    func wrong() throws {
        let run = try child("/projects/web/runs/7", in: "/projects/*/runs")
        #expect(run.key(at: 0, as: Int.self) == nil)
        #expect(run.key(at: 1, as: String.self) == nil)
        #expect(run.key(at: -1, as: String.self) == nil)
        #expect(try child("/runs/07", in: "/runs").key(as: Int.self) == nil)
        #expect(try child("/runs/7", in: "/runs").key(at: 0, as: Int.self) == nil)
    }

    @Test("an owner's key is read as the type that the reactor named")
    func owner() {
        let owner = SimulatedOwner(key: "7", connection: 3)
        #expect(owner.key() == 7 && owner.key(as: String.self) == "7")
        #expect(SimulatedOwner(key: "x", connection: 3).key(as: Int.self) == nil)
    }
}
