import ReactorCore
import StockReactors
import Testing

@Suite("MemberSet")
struct MemberSetTests {
    @Test("a set contains each member once, in alphabetical order")
    func members() throws {
        let rig = ReactorRig(MemberSet())
        for name in ["fig", "apple", "pear", "fig", "b", "apple"] {
            #expect(try rig.send(#"{"insert":{"member":"\#(name)"}}"#) == "applied")
        }
        #expect(try rig.state == #"{"members":["apple","b","fig","pear"]}"#)
        #expect(try rig.send(#"{"remove":{"member":"b"}}"#) == "applied")
        #expect(try rig.send(#"{"remove":{"member":"b"}}"#) == "applied")
        #expect(try rig.state == #"{"members":["apple","fig","pear"]}"#)
    }

    @Test("a full set takes no new member; a member beyond the size limit fits no set")
    func limits() throws {
        let rig = ReactorRig(MemberSet(capacity: 1))
        let long = String(repeating: "m", count: MemberSet.memberBytesMax)
        #expect(try rig.send(#"{"insert":{"member":"\#(long)m"}}"#) == "rejected too_long")
        #expect(try rig.send(#"{"insert":{"member":"\#(long)"}}"#) == "applied")
        #expect(try rig.send(#"{"insert":{"member":"a"}}"#) == "rejected full")
        #expect(try rig.send(#"{"insert":{"member":"\#(long)"}}"#) == "applied")
    }

    @Test("after a thousand random changes a set equals a sorted model")
    func model() throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        let rig = ReactorRig(MemberSet())
        var model: Set<String> = []
        for _ in 0..<1_000 {
            let member = String(UInt8.random(in: 0...99, using: &random), radix: 16)
            if Bool.random(using: &random) {
                model.insert(member)
                _ = try rig.send(#"{"insert":{"member":"\#(member)"}}"#)
            } else {
                model.remove(member)
                _ = try rig.send(#"{"remove":{"member":"\#(member)"}}"#)
            }
        }
        let sorted = model.sorted().map { "\"\($0)\"" }.joined(separator: ",")
        #expect(try rig.state == #"{"members":[\#(sorted)]}"#, "seed \(seed)")
    }
}
