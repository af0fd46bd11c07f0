import ReactorCore
import StockReactors
import Testing

@Suite("List")
struct ListTests {
    @Test("a list appends, removes its first item and clears")
    func items() throws {
        let rig = ReactorRig(List())
        #expect(try rig.state == #"{"items":[]}"#)
        #expect(try rig.send(#"{"removeFirst":{}}"#) == "rejected empty")
        #expect(try rig.send(#"{"append":{"value":"a"}}"#) == "applied")
        #expect(try rig.send(#"{"append":{"value":{"b":1}}}"#) == "applied")
        #expect(try rig.send(#"{"append":{"value":null}}"#) == "applied")
        #expect(try rig.state == #"{"items":["a",{"b":1},null]}"#)
        #expect(try rig.slice("items/1/b") == "1")
        #expect(try rig.send(#"{"removeFirst":{}}"#) == "applied")
        #expect(try rig.state == #"{"items":[{"b":1},null]}"#)
        #expect(try rig.send(#"{"clear":{}}"#) == "applied")
        #expect(try rig.state == #"{"items":[]}"#)
    }

    @Test("an item beyond the capacity drops the oldest")
    func capacity() throws {
        let rig = ReactorRig(List(capacity: 3))
        for number in 1...10 {
            #expect(try rig.send(#"{"append":{"value":\#(number)}}"#) == "applied")
        }
        #expect(try rig.state == #"{"items":[8,9,10]}"#)
    }

    @Test("a mirror created with another capacity follows the list too")
    func otherCapacity() throws {
        var mirror = List.State()
        let daemon = List(capacity: 1)
        var state = List.State()
        for number in 1...3 {
            let dropped = max(0, state.items.count)
            let mutation = List.Mutation.appended(
                value: .text("\(number)"), dropped: dropped)
            daemon.reduce(state: &state, mutation: mutation)
            List(capacity: 500).reduce(state: &mirror, mutation: mutation)
        }
        #expect(mirror == state)
        #expect(mirror.items.count == 1)
    }

    @Test("an item beyond its size limit is rejected")
    func limit() throws {
        let rig = ReactorRig(List())
        let text = String(repeating: "x", count: List.itemBytesMax)
        #expect(try rig.send(#"{"append":{"value":"\#(text)"}}"#) == "rejected too_large")
    }
}
