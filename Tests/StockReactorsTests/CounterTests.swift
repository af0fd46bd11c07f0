import ReactorCore
import StockReactors
import Testing

@Suite("Counter")
struct CounterTests {
    @Test("a counter counts up, down and back to zero")
    func counts() throws {
        let rig = ReactorRig(Counter())
        #expect(try rig.state == #"{"count":0}"#)
        #expect(try rig.send(#"{"increment":{"by":5}}"#) == "applied")
        #expect(try rig.state == #"{"count":5}"#)
        #expect(try rig.send(#"{"decrement":{"by":7}}"#) == "applied")
        #expect(try rig.state == #"{"count":-2}"#)
        #expect(try rig.send(#"{"reset":{}}"#) == "applied")
        #expect(try rig.state == #"{"count":0}"#)
    }

    @Test("without a number, a counter counts by one")
    func defaults() throws {
        let rig = ReactorRig(Counter())
        #expect(try rig.send(#"{"increment":{}}"#) == "applied")
        #expect(try rig.send(#"{"increment":{}}"#) == "applied")
        #expect(try rig.send(#"{"decrement":{}}"#) == "applied")
        #expect(try rig.state == #"{"count":1}"#)
    }

    @Test("a result beyond 64 bits is rejected as overflow and changes nothing")
    func overflow() throws {
        let rig = ReactorRig(Counter())
        #expect(try rig.send(#"{"increment":{"by":9223372036854775807}}"#) == "applied")
        #expect(try rig.send(#"{"increment":{"by":1}}"#) == "rejected overflow")
        #expect(try rig.send(#"{"decrement":{"by":-1}}"#) == "rejected overflow")
        #expect(try rig.state == #"{"count":9223372036854775807}"#)
        #expect(try rig.send(#"{"reset":{}}"#) == "applied")
        // The negation of the least integer does not fit into 64 bits, for any minuend.
        #expect(try rig.send(#"{"decrement":{"by":-9223372036854775808}}"#) == "rejected overflow")
        #expect(try rig.send(#"{"increment":{"by":-9223372036854775808}}"#) == "applied")
        #expect(try rig.send(#"{"decrement":{"by":1}}"#) == "rejected overflow")
        #expect(try rig.state == #"{"count":-9223372036854775808}"#)
        #expect(rig.tree.revision.sequence == 3)
    }

    @Test("an action with a non-integer number is invalid")
    func mistyped() throws {
        let rig = ReactorRig(Counter())
        #expect(try rig.send(#"{"increment":{"by":"5"}}"#).hasPrefix("not an action"))
        #expect(try rig.send(#"{"increment":{"by":1.5}}"#).hasPrefix("not an action"))
        #expect(try rig.send(#"{"multiply":{"by":5}}"#).hasPrefix("not an action"))
        #expect(try rig.state == #"{"count":0}"#)
    }
}
