import ReactorCore
import ReactorTesting
import Testing

/// Drives ``SimulatedLookups``.
@Suite("What the invariants of a simulation look up")
struct SimulatedLookupsTests {
    private let log = FailureLog()

    /// Runs a workshop with the condition `holds`, and returns the report; nil without a failure.
    private func report(_ holds: @escaping (SimulatedTree) -> Bool) -> String? {
        let simulation = Simulation(seed: 1, report: log.report) { Workshop() }
        simulation.traffic(toChildrenOf: "/orders", of: Order.self, percent: 50) { _, _, _ in
            .work(limit: 9)
        }
        simulation.invariant(ofTree: "all is well", holds)
        simulation.run(steps: 40) { _ in .open }
        return log.texts.first
    }

    @Test("look-ups that have found something pass, whichever key they name")
    func found() {
        let text = report { tree in
            _ = tree.state(of: Order.self, at: "/orders/1000")
            _ = tree.owners()
            _ = tree.plans(of: Workshop.self)
            return tree.children(of: Order.self, at: "/orders").allSatisfy { order in
                tree.state(of: Counter.self, at: "\(order.path)/count") != nil
            }
        }
        #expect(text == nil)
    }

    /// A look-up that never finds anything, and the part of the report that names it.
    struct Miss: Sendable {
        var text: String
        var look: @Sendable (SimulatedTree) -> Bool
    }

    static let misses = [
        Miss(text: "looks up the state of Order at /order/*,") { tree in
            tree.children(of: Order.self, at: "/order").allSatisfy { $0.state.steps < 0 }
        },
        Miss(text: "looks up the state of Counter at /orders/*/counter,") { tree in
            tree.state(of: Counter.self, at: "/orders/1/counter") == nil
        },
        Miss(text: "looks up the value Int at /sum,") { tree in
            tree.value(of: Int.self, at: "/sum") == nil
        },
        Miss(text: "looks up the owned keys of the reactor at /desks,") { tree in
            tree.owners(at: "/desks")?.isEmpty ?? true
        },
        Miss(text: "looks up the plans of Order at /order,") { tree in
            tree.plans(of: Order.self, at: "/order")?.isEmpty ?? true
        },
    ]

    @Test("a look-up that never found anything fails the run, with the remedy", arguments: misses)
    func missed(miss: Miss) throws {
        let text = try #require(report(miss.look))
        #expect(text.contains("\"all is well\" \(miss.text)"), "\(text)")
        #expect(text.contains("found none in the whole run: correct the path, or make the run"))
        #expect(!text.contains("shortest failing run"), "fewer steps look up even less")
    }

    static let mistakes = [
        Miss(text: "looks up the state of Counter at /orders/*, and Order is there") { tree in
            tree.children(of: Counter.self, at: "/orders").isEmpty
        },
        Miss(text: "looks up the state of Order at /, and Workshop is there") { tree in
            tree.state(of: Order.self) == nil
        },
        Miss(text: "looks up the plans of Order at /, and Workshop is there") { tree in
            tree.plans(of: Order.self)?.isEmpty ?? true
        },
        Miss(text: "looks up the value Int at /, and Workshop is there") { tree in
            tree.value(of: Int.self, at: "/") == nil
        },
    ]

    @Test("a look-up of another type fails at once, and names both types", arguments: mistakes)
    func otherType(mistake: Miss) throws {
        let text = try #require(report(mistake.look))
        #expect(text.contains("\"all is well\" \(mistake.text)"), "\(text)")
        #expect(text.contains("name the type that the path has"))
    }

    @Test("a text that is no path is named")
    func noPath() throws {
        let text = try #require(report { $0.state(of: Order.self, at: "orders") == nil })
        #expect(text.contains("\"all is well\" looks up orders: "), "\(text)")
    }

    @Test("a followed pattern that matches no child in the whole run is a failure")
    func emptyCollection() throws {
        let simulation = Simulation(seed: 1, report: log.report) { Workshop() }
        simulation.follow(childrenOf: "/orders/*/works")
        simulation.run(steps: 40) { _ in .open }
        let text = try #require(log.texts.first)
        #expect(text.contains("/orders/*/works matched no child in the whole run: correct the"))
    }
}
