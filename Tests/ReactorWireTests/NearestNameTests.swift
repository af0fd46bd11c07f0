import ReactorWire
import Testing

struct NearestNameTests {
    @Test(
        "a name with one slip is found: a character missing, added or different, or two swapped",
        arguments: ["incrementt", "incremnt", "incrememt", "incremetn", "Increment"])
    func slips(typed: String) {
        let known = ["decrement", "increment", "reset"]
        #expect(NearestName.of(typed, among: known) == "increment")
    }

    @Test("a dissimilar name gets no suggestion", arguments: ["x", "", "spindle"])
    func tooFar(typed: String) {
        #expect(NearestName.of(typed, among: ["limits", "reactors", "socket"]) == nil)
    }

    @Test("the nearest name wins, and the first of equals")
    func nearest() {
        #expect(NearestName.of("lock", among: ["clock", "lick", "locks"]) == "clock")
        #expect(NearestName.of("jobs", among: ["job", "jobs"]) == "jobs")
    }

    @Test("a very long name from a peer is not compared")
    func long() {
        let long = String(repeating: "a", count: NearestName.nameBytesMax + 1)
        #expect(NearestName.of(long, among: [long + "a"]) == nil)
    }
}
