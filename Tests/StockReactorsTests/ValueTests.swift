import ReactorCore
import StockReactors
import Testing

@Suite("Value")
struct ValueTests {
    @Test("F3: a value is the value set last, of any shape; its actions are its mutations")
    func sets() throws {
        let rig = ReactorRig(Value())
        #expect(try rig.state == #"{"value":null}"#)
        for json in ["5", "\"text\"", "[1,[2],null]", #"{"a":{"b":true}}"#, "1.5", "null"] {
            #expect(try rig.send(#"{"set":{"value":\#(json)}}"#) == "applied")
            #expect(try rig.state == #"{"value":\#(json)}"#)
        }
        #expect(try rig.send(#"{"set":{"value":{"a":[1,2]}}}"#) == "applied")
        #expect(try rig.slice("value/a/1") == "2")
        #expect(try rig.send(#"{"clear":{}}"#) == "applied")
        #expect(try rig.state == #"{"value":null}"#)
    }

    @Test("an action that sets nothing is invalid")
    func missing() throws {
        let rig = ReactorRig(Value())
        #expect(try rig.send(#"{"set":{}}"#).hasPrefix("not an action"))
    }
}
