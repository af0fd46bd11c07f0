import ReactorWire
import Testing

struct NearestNameTests {
    @Test(
        "one slip in a name is found: a character more, less, other, or two swapped",
        arguments: ["incrementt", "incremnt", "incrememt", "incremetn", "Increment"])
    func slips(typed: String) {
        let known = ["decrement", "increment", "reset"]
        #expect(NearestName.of(typed, among: known) == "increment")
    }

    @Test("a name that is like none is not given a neighbour", arguments: ["x", "", "spindle"])
    func tooFar(typed: String) {
        #expect(NearestName.of(typed, among: ["limits", "reactors", "socket"]) == nil)
    }

    @Test("the nearest wins, and the first of equals")
    func nearest() {
        #expect(NearestName.of("lock", among: ["clock", "lick", "locks"]) == "clock")
        #expect(NearestName.of("jobs", among: ["job", "jobs"]) == "jobs")
    }

    @Test("a name that a peer made very long is not compared at all")
    func long() {
        let long = String(repeating: "a", count: NearestName.nameBytesMax + 1)
        #expect(NearestName.of(long, among: [long + "a"]) == nil)
    }
}
