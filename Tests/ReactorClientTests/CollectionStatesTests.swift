import ReactorCore
import Testing

@testable import ReactorClient

@Suite("CollectionStates")
struct CollectionStatesTests {
    private typealias States = CollectionStates<Int, Int>

    private func child(_ key: Int, _ state: Int) -> KeyedState<Int, Int> {
        KeyedState(WireKey("\(key)"), key, state)
    }

    @Test("children are found, changed, added and removed by key, in the order of the keys")
    func model() {
        var seed = Seed(UInt64.random(in: .min ... .max))
        var model: [Int: Int] = [:]
        var states = States((0..<300).map { child($0 * 2, $0) }.shuffled(using: &seed))
        for key in 0..<300 { model[key * 2] = key }
        for step in 0..<5_000 {
            let key = Int(seed.next() % 800)
            if seed.next() % 2 == 0 {
                states.remove(WireKey("\(key)"))
                model[key] = nil
            } else {
                states.set(child(key, step))
                model[key] = step
            }
            #expect(states[key] == model[key] && states.count == model.count)
        }
        #expect(states.map(\.key) == model.keys.sorted())
        #expect(states.allSatisfy { model[$0.key] == $0.state })
        for index in states.indices {
            #expect(states[index].key == model.keys.sorted()[index])
        }
    }

    @Test("a copy keeps what it has")
    func copies() {
        var states = States((0..<1_000).map { child($0, 0) })
        let copy = states
        states.set(child(500, 1))
        states.remove("3")
        #expect(copy[500] == 0 && copy[3] == 0 && copy.count == 1_000)
        #expect(states[500] == 1 && states[3] == nil && states.count == 999)
    }

    @Test("without children there is nothing to find, and the last removal leaves nothing")
    func empty() {
        var states = States()
        #expect(states.isEmpty && states[1] == nil && Array(states).isEmpty)
        states.remove("1")
        states.set(child(1, 5))
        #expect(states.first?.state == 5)
        states.remove("1")
        #expect(states.isEmpty && states.child(named: "1") == nil)
    }
}
