import ReactorCore
import Testing

@Suite("Rejection")
struct RejectionTests {
    @Test("a reactor's rejection has the author's code, the system's has its own")
    func codes() {
        #expect(Rejection("held", "by another").code == "held")
        #expect(Rejection(.tooLarge, "by far").code == "TOO_LARGE")
        #expect("\(Rejection("held", "by another"))" == "held: by another")
    }

    @Test("a rejection in a batch names the index of its action, and is taken apart again")
    func inBatch() {
        let rejection = Rejection("held", "by another: 7").inBatch(at: 12)
        #expect(rejection == Rejection("held", "action 12: by another: 7"))
        #expect(rejection.partOfBatch?.index == 12)
        #expect(rejection.partOfBatch?.rejection == Rejection("held", "by another: 7"))
    }

    @Test(
        "a text that names no index is that of a whole batch",
        arguments: [
            "action", "action : x", "action -1: x", "action x: y", "/a changed", "action 1",
        ])
    func wholeBatch(text: String) {
        #expect(Rejection("held", text).partOfBatch == nil)
    }
}
