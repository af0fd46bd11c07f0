import ReactorCore
import StockReactors
import Testing

@Suite("Map")
struct MapTests {
    @Test("a map sets, merges, removes and clears its entries")
    func entries() throws {
        let rig = ReactorRig(Map())
        #expect(try rig.state == #"{"entries":{}}"#)
        #expect(try rig.send(#"{"set":{"key":"theme","value":"dark"}}"#) == "applied")
        #expect(try rig.send(#"{"merge":{"entries":{"b":2,"a":1,"theme":"light"}}}"#) == "applied")
        #expect(try rig.state == #"{"entries":{"a":1,"b":2,"theme":"light"}}"#)
        #expect(try rig.send(#"{"remove":{"key":"a"}}"#) == "applied")
        #expect(try rig.send(#"{"remove":{"key":"never"}}"#) == "applied")
        #expect(try rig.state == #"{"entries":{"b":2,"theme":"light"}}"#)
        #expect(try rig.send(#"{"clear":{}}"#) == "applied")
        #expect(try rig.send(#"{"clear":{}}"#) == "applied")
        #expect(try rig.state == #"{"entries":{}}"#)
        #expect(rig.tree.revision.sequence == 6)
    }

    @Test("a slice shows one entry, or a value inside it")
    func slices() throws {
        let rig = ReactorRig(Map())
        #expect(try rig.send(#"{"set":{"key":"a","value":{"b":[7]}}}"#) == "applied")
        #expect(try rig.slice("entries/a") == #"{"b":[7]}"#)
        #expect(try rig.slice("entries/a/b/0") == "7")
        #expect(try rig.slice("entries/z") == nil)
        #expect(try rig.slice("nothing") == nil)
    }

    @Test("two Unicode forms of a key are two keys")
    func exactKeys() throws {
        let rig = ReactorRig(Map())
        #expect(try rig.send("{\"set\":{\"key\":\"\u{e9}\",\"value\":1}}") == "applied")
        #expect(try rig.send("{\"set\":{\"key\":\"e\u{301}\",\"value\":2}}") == "applied")
        #expect(try rig.slice("entries/\u{e9}") == "1")
        #expect(try rig.slice("entries/e\u{301}") == "2")
    }

    @Test("a full map refuses new keys, but accepts new values for its keys")
    func full() throws {
        let rig = ReactorRig(Map(capacity: 2))
        #expect(try rig.send(#"{"merge":{"entries":{"a":1,"b":2,"c":3}}}"#) == "rejected full")
        #expect(try rig.state == #"{"entries":{}}"#)
        #expect(try rig.send(#"{"merge":{"entries":{"a":1,"b":2}}}"#) == "applied")
        #expect(try rig.send(#"{"set":{"key":"c","value":3}}"#) == "rejected full")
        #expect(try rig.send(#"{"merge":{"entries":{"a":3,"b":4}}}"#) == "applied")
        #expect(try rig.send(#"{"merge":{"entries":{"a":5,"c":4}}}"#) == "rejected full")
        #expect(try rig.send(#"{"set":{"key":"a","value":6}}"#) == "applied")
        #expect(try rig.state == #"{"entries":{"a":6,"b":4}}"#)
    }

    @Test("keys and values beyond their limits are rejected, in a merge too")
    func limits() throws {
        let rig = ReactorRig(Map())
        let key = String(repeating: "k", count: Map.keyBytesMax)
        let value = String(repeating: "v", count: Map.valueBytesMax - 1)
        #expect(try rig.send(#"{"set":{"key":"\#(key)","value":"\#(value)"}}"#) == "applied")
        #expect(
            try rig.send(#"{"set":{"key":"\#(key)k","value":1}}"#) == "rejected key_too_long")
        #expect(
            try rig.send(#"{"merge":{"entries":{"a":1,"\#(key)k":1}}}"#) == "rejected key_too_long")
        #expect(try rig.send(#"{"set":{"key":"a","value":"\#(value)v"}}"#) == "rejected too_large")
        #expect(try rig.send(#"{"merge":{"entries":{"a":["\#(value)"]}}}"#) == "rejected too_large")
    }

    @Test("a duplicate key in a merge makes the action invalid")
    func duplicate() throws {
        let rig = ReactorRig(Map())
        var writer = WireWriter()
        writer.map(count: 1)
        writer.text("merge")
        writer.map(count: 1)
        writer.text("entries")
        writer.map(count: 2)
        for number: UInt64 in 1...2 {
            writer.text("a")
            writer.unsigned(number)
        }
        let result = rig.tree.dispatch(
            to: rig.tree.root, writer.bytes.span, by: .daemon, ordinal: 1)
        guard case .failed(.decode(let error)) = result else {
            Issue.record("expected a decoding error, got \(result)")
            return
        }
        #expect(error.condition == .duplicateKey("a"))
    }
}
