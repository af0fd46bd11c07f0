import ReactorCore
import StockReactors
import Testing

@Suite("Presence")
struct PresenceTests {
    @Test("a member has the user and process that the kernel reports, whatever the client says")
    func join() throws {
        let rig = ReactorRig(Presence())
        #expect(try rig.send(#"{"join":{"info":{"name":"a","uid":0}}}"#, from: 3) == "applied")
        #expect(
            try rig.slice("members/3")
                == #"{"pid":5003,"uid":1000,"info":{"uid":0,"name":"a"}}"#)
        #expect(try rig.send(#"{"join":{}}"#, from: 3) == "applied")
        #expect(try rig.slice("members/3/info") == "null")
    }

    @Test("an entry is removed when its connection ends, and only that entry")
    func ends() throws {
        let rig = ReactorRig(Presence())
        for connection: UInt64 in 1...3 {
            let join = #"{"join":{"info":\#(connection)}}"#
            #expect(try rig.send(join, from: connection) == "applied")
        }
        #expect(try rig.end(2).isEmpty)
        #expect(try rig.slice("members/2") == nil)
        #expect(try rig.slice("members/1/info") == "1")
        #expect(try rig.slice("members/3/info") == "3")
        #expect(rig.tree.revision.sequence == 4)
    }

    @Test(
        "a member that has left cannot leave again, and the end of its connection changes nothing")
    func leave() throws {
        let rig = ReactorRig(Presence())
        #expect(try rig.send(#"{"leave":{}}"#) == "rejected not_here")
        #expect(try rig.send(#"{"join":{}}"#) == "applied")
        #expect(try rig.send(#"{"leave":{}}"#, from: 2) == "rejected not_here")
        #expect(try rig.send(#"{"leave":{}}"#) == "applied")
        #expect(try rig.state == #"{"members":{}}"#)
        #expect(try rig.end(1).isEmpty)
        #expect(rig.tree.revision.sequence == 2)
    }

    @Test("an info beyond its limit is rejected")
    func limit() throws {
        let rig = ReactorRig(Presence())
        let text = String(repeating: "x", count: Presence.infoBytesMax)
        #expect(try rig.send(#"{"join":{"info":"\#(text)"}}"#) == "rejected too_large")
        #expect(try rig.state == #"{"members":{}}"#)
    }
}
