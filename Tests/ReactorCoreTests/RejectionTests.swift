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
}
