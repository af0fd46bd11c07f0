import ReactorCore
import StockReactors
import Testing

@Suite("Replay of the ready-made reactors")
struct ReplayTests {
    // Every rig compares the state with a replica that gets only deltas, after each action.
    private func run<R: Reactor>(
        _ reactor: R, steps: Int = 600, _ actions: (inout SeededGenerator) -> String
    ) throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        let rig = ReactorRig(reactor)
        var applied: UInt64 = 0
        for _ in 0..<steps {
            let connection = UInt64.random(in: 1...4, using: &random)
            if Int.random(in: 0..<20, using: &random) == 0 {
                let before = rig.tree.revision.sequence
                _ = try rig.end(connection)
                applied += rig.tree.revision.sequence - before
                continue
            }
            let outcome = try rig.send(actions(&random), from: connection)
            #expect(!outcome.hasPrefix("not an action"), "\(outcome), seed \(seed)")
            if !outcome.hasPrefix("rejected") { applied += 1 }
        }
        #expect(rig.tree.revision.sequence == applied, "seed \(seed)")
        #expect(applied > 0, "seed \(seed)")
    }

    @Test("a replica of a map equals it after every action")
    func map() throws {
        try run(Map(capacity: 20)) { random in
            let key = Int.random(in: 0..<30, using: &random)
            return switch Int.random(in: 0..<12, using: &random) {
            case 0...6: #"{"set":{"key":"k\#(key)","value":\#(key)}}"#
            case 7...9: #"{"remove":{"key":"k\#(key)"}}"#
            case 10: #"{"merge":{"entries":{"k\#(key)":1,"x\#(key)":2}}}"#
            default: #"{"clear":{}}"#
            }
        }
    }

    @Test("a replica of a list equals it after every action")
    func list() throws {
        try run(List(capacity: 7)) { random in
            switch Int.random(in: 0..<12, using: &random) {
            case 0...8: #"{"append":{"value":\#(Int.random(in: 0..<99, using: &random))}}"#
            case 9...10: #"{"removeFirst":{}}"#
            default: #"{"clear":{}}"#
            }
        }
    }

    @Test("a replica of a presence equals it after every action and every end")
    func presence() throws {
        try run(Presence()) { random in
            Bool.random(using: &random)
                ? #"{"join":{"info":\#(Int.random(in: 0..<99, using: &random))}}"#
                : #"{"leave":{}}"#
        }
    }

    @Test("a replica of a lock equals it after every action and every end")
    func lock() throws {
        try run(Lock()) { random in
            switch Int.random(in: 0..<6, using: &random) {
            case 0...1: #"{"acquire":{}}"#
            case 2...3: #"{"acquire":{"wait":true}}"#
            default: #"{"release":{"token":\#(Int.random(in: 1..<60, using: &random))}}"#
            }
        }
    }

    // [WIRE-14-1]
    @Test("a replica of a queue equals it after every action and every end")
    func queue() throws {
        try run(Queue(capacity: 30)) { random in
            let id = Int.random(in: 1..<60, using: &random)
            return switch Int.random(in: 0..<10, using: &random) {
            case 0...3: #"{"push":{"job":\#(id)}}"#
            case 4...6: #"{"claim":{}}"#
            case 7...8: #"{"finish":{"id":\#(id)}}"#
            default: #"{"fail":{"id":\#(id)}}"#
            }
        }
    }

    @Test("replicas of a counter and a value equal them after every action")
    func scalars() throws {
        try run(Counter()) { random in
            #"{"increment":{"by":\#(Int.random(in: -9...9, using: &random))}}"#
        }
        try run(Value()) { random in
            #"{"set":{"value":\#(Int.random(in: -9...9, using: &random))}}"#
        }
    }
}
