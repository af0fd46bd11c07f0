import ReactorCore
import ReactorTesting
import Testing

@Suite("A reactor under test")
struct TestStoreTests {
    private let log = FailureLog()

    private func search() -> TestStore<Search> { TestStore(Search(), report: log.report) }

    @Test("the test states an action's state, mutations, reply and rejection")
    func stated() {
        let store = TestStore(Counter())
        store.send(.increment(by: 2), mutations: [.added(2)]) {
            $0.count = 2
            $0.history = [2]
        }
        #expect(store.send(.ask) == .count(2))
        store.sendRejected(.decrement(by: 3), "negative")
        #expect(store.state == Counter.State(count: 2, history: [2]))
        store.finish()
    }

    @Test("a wrongly stated state is reported field by field")
    func difference() {
        let store = TestStore(Counter(), report: log.report)
        store.send(.increment(by: 2)) {
            $0.count = 3
            $0.history = [2]
        }
        #expect(
            log.texts == [
                """
                {"increment":{"by":2}} led to another state of /
                (- expected, + got)
                  {
                -   count: 3
                +   count: 2
                    (1 unchanged)
                  }
                """
            ])
        store.send(.increment(by: 1))
        #expect(log.texts.count == 2)
        #expect(log.texts[1].contains("+     1: 1"))
        store.finish()
    }

    @Test("wrongly stated mutations are reported beside the actual ones")
    func mutations() {
        let store = TestStore(Counter(), report: log.report)
        store.send(.increment(by: 2), mutations: [.added(1), .added(1)]) {
            $0 = Counter.State(count: 2, history: [2])
        }
        #expect(log.texts.count == 1)
        #expect(log.texts[0].hasSuffix("- {\"added\":1}, {\"added\":1}\n+ {\"added\":2}"))
        store.finish()
    }

    @Test("an unexpected rejection, or one with another code, is a failure")
    func rejections() {
        let store = TestStore(Counter(), report: log.report)
        store.send(.decrement(by: 1))
        store.sendRejected(.decrement(by: 1), "empty")
        store.sendRejected(.ask, "busy")
        store.finish()
        #expect(log.texts.count == 3)
        #expect(log.texts[0].contains("not applied: rejected, negative: only 0"))
        #expect(log.texts[1].contains("with negative: only 0 and not with empty"))
        #expect(log.texts[2].contains("is applied"))
    }

    @Test("F81: a debounce is tested without real time: only the last of three searches runs")
    func debounce() {
        let store = search()
        store.send(.type("r")) { $0.text = "r" }
        store.advance(by: .milliseconds(200))
        store.send(.type("re")) { $0.text = "re" }
        store.advance(by: .milliseconds(299))
        #expect(store.effects == ["search"])
        store.advance(by: .milliseconds(1))
        store.receive(.found("RE")) { $0.result = "RE" }
        store.finish()
        #expect(log.texts == [])
    }

    @Test("an emission that was not received is a failure, and so is a missing one")
    func emissions() {
        let store = search()
        store.send(.type("a")) { $0.text = "a" }
        store.receive(.found("A"))
        store.advance(by: .seconds(1))
        store.send(.log("x")) { $0.log = ["x"] }
        store.finish()
        #expect(log.texts.count == 2)
        #expect(
            log.texts[0].contains("no further transaction: these effects run: search; the time"))
        #expect(log.texts[1].contains("the test did not receive emission 2: /: {\"found\":\"A\"}"))
    }

    @Test("an effect that still runs at the end is reported, unless it is allowed")
    func running() {
        let store = search()
        store.send(.tick)
        store.advance(by: .seconds(2))
        store.receive(.ticked) { $0.ticks = 1 }
        store.receive(.ticked) { $0.ticks = 2 }
        store.finish(leaving: ["ticker"])
        #expect(log.texts == [])
        store.finish()
        #expect(
            log.texts.count == 1 && log.texts[0].contains("effect of / named ticker still runs"))
        store.send(.stop)
        store.finish()
        #expect(log.texts.count == 1)
    }

    @Test("the test accounts for followers and children's changes")
    func followers() {
        let store = search()
        store.send(.type("a")) { $0.text = "a" }
        store.send(.submit)
        store.expect(Counter.self, at: "/count") { $0 = Counter.State(count: 1, history: [1]) }
        store.receive(follower: .log("submitted a")) { $0.log = ["submitted a"] }
        store.send(.open("x"))
        store.expect(children: ["x"], at: "/tabs")
        store.send(.increment(by: 3), to: Counter.self, at: "/tabs/x") {
            $0 = Counter.State(count: 3, history: [3])
        }
        store.finish(leaving: ["search"])
        #expect(log.texts == [])
    }

    @Test("unaccounted changes of a child and unaccounted followers are failures")
    func unaccounted() {
        let store = search()
        store.send(.submit)
        store.send(.open("x"))
        store.finish()
        #expect(log.texts.count == 3)
        let follower = "the test did not receive action 2: {\"log\":\"submitted \"}"
        #expect(log.texts.contains { $0.contains(follower) })
        #expect(log.texts.contains { $0.contains("/count") && $0.contains("+   count: 1") })
        #expect(log.texts.contains { $0.contains("/tabs: + x") })
    }

    @Test("F81: a saga waits on the test's clock, and its put is received")
    func saga() {
        let store = TestStore(Finder(), report: log.report)
        store.send(.type("a")) { $0.text = "a" }
        store.advance(by: .milliseconds(299))
        store.send(.type("ab")) { $0.text = "ab" }
        store.advance(by: .milliseconds(299))
        #expect(store.state.ran == [])
        store.advance(by: .milliseconds(1))
        store.receive(follower: .run("ab")) { $0.ran = ["ab"] }
        store.finish()
        #expect(log.texts == [])
    }

    @Test("the test accounts for a parent's reaction and the end of a connection")
    func reactions() {
        let store = TestStore(Bench(), report: log.report)
        store.send(.increment(by: 2), to: Counter.self, at: "/count") {
            $0 = Counter.State(count: 2, history: [2])
        }
        store.expect(mutations: [.noted(2)]) { $0.notes = [2] }
        store.send(.sit("a")) { $0.seats = ["a"] }
        store.disconnect()
        store.receive(.rose("a")) { $0.seats = [] }
        store.finish()
        #expect(log.texts == [])
        store.send(.increment(by: 1), to: Counter.self, at: "/count") {
            $0 = Counter.State(count: 3, history: [2, 1])
        }
        store.finish()
        #expect(log.texts.count == 1 && log.texts[0].contains("+     1: 1"))
    }

    @Test("a path without a reactor, or with another one, is a failure")
    func paths() {
        let store = search()
        store.send(.ask, to: Counter.self, at: "/nowhere")
        store.send(.put(1), to: Till.self, at: "/count")
        store.expect(children: [], at: "/count")
        store.finish()
        #expect(
            log.texts == [
                "no reactor is at /nowhere", "/count is a Counter and no Till",
                "no collection is at /count",
            ])
    }

    @Test("an effect that throws is a failure, unless it is expected")
    func problems() {
        let store = search()
        store.send(.explode)
        store.receive(problem: "boom")
        store.send(.explode)
        store.finish()
        #expect(log.texts.count == 1 && log.texts[0].contains("effectFailed: boom: as asked"))
    }

    @Test("a running effect is a failure when a store is released without finish()")
    func forgotten() {
        do {
            let store = search()
            store.send(.type("a")) { $0.text = "a" }
        }
        #expect(log.texts.count == 1 && log.texts[0].contains("named search still runs"))
    }

    @Test("R99: a non-deterministic reduce is reported, with the mutation")
    func impure() {
        let store = TestStore(Impure(), report: log.report)
        store.send(.touch) { $0.stamp = 1 }
        store.skipAll()
        store.finish()
        #expect(
            log.texts.contains {
                $0.contains("reduce of Impure at / is not a function") && $0.contains("touch")
            })
    }

    @Test("R99: a state that depends on the order of a dictionary is reported")
    func unordered() {
        let store = TestStore(Unordered(), report: log.report)
        for number in 0..<60 {
            store.send(.add(number))
            store.skipAll()
        }
        store.finish()
        #expect(log.texts.contains { $0.contains("reduce of Unordered at / is not a function") })
    }

    @Test("a failure of the standard report is an issue at the caller's line")
    func issue() {
        withKnownIssue {
            let store = TestStore(Counter())
            store.send(.increment(by: 1)) { $0.count = 2 }
            store.finish()
        } matching: { issue in
            issue.sourceLocation?.fileID == #fileID
                && issue.comments.contains { $0.rawValue.contains("+   count: 1") }
        }
    }

    @Test("an unstated change of a child, and a step for a missing child, are reported")
    func children() {
        let log = FailureLog()
        let store = TestStore(Workshop(), report: log.report)
        store.send(.open) {
            $0.last = 1
            $0.numbers = [1]
        }
        store.expect(children: ["1"], of: \.$orders)
        let order = store.child(\.$orders, "1")
        order.send(.work(limit: 1)) { $0.steps = 1 }
        #expect(log.texts == [])
        order.child(\.$count).expect { $0 = Counter.State(count: 1, history: [1]) }
        store.expect { $0.steps = 1 }
        order.sendRejected(.work(limit: 1), "done")
        #expect(log.texts == [])
        order.send(.work(limit: 2)) { $0.steps = 2 }
        store.expect { $0.steps = 2 }
        store.child(\.$orders, "7").send(.work(limit: 1))
        #expect(log.texts.contains { $0.contains("no reactor is at /orders/7") })
        store.advance(by: .milliseconds(1))
        #expect(log.texts.contains { $0.contains("/orders/1/count") })
        store.skipAll()
        store.finish()
    }
}
