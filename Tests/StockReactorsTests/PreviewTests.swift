import StockReactors
import Testing

@testable import ReactorCore

@Suite("Previews of the ready-made reactors")
struct PreviewTests {
    @Test("actions that need their caller have no preview; others have one")
    func previews() throws {
        func outcome(_ reactor: some Reactor, _ json: String) throws -> String {
            let rig = ReactorRig(reactor)
            rig.tree.turn.beginPreviews()
            return try rig.send(json)
        }
        #expect(try outcome(Lock(), #"{"acquire":{}}"#) == "rejected preview")
        #expect(try outcome(Lock(), #"{"release":{"token":1}}"#) == "rejected preview")
        #expect(try outcome(Presence(), #"{"join":{}}"#) == "rejected preview")
        #expect(try outcome(Queue(), #"{"claim":{}}"#) == "rejected preview")
        #expect(try outcome(Queue(), #"{"finish":{"id":1}}"#) == "rejected preview")
        #expect(try outcome(Queue(), #"{"push":{"job":1}}"#) == "applied")
        #expect(try outcome(Counter(), #"{"increment":{}}"#) == "applied")
    }
}
