import Glibc
import ReactorLoop
import Testing

@Suite("Supervisor")
struct SupervisorTests {
    @Test(
        "P80: without an address of a manager nothing is sent",
        arguments: ["", "/", "relative", "@"])
    func absent(path: String) {
        #expect(Supervisor([:]) == nil)
        #expect(Supervisor(["NOTIFY_SOCKET": path]) == nil)
        let long = "/" + String(repeating: "x", count: UnixAddress.pathBytesMax)
        #expect(Supervisor(["NOTIFY_SOCKET": long]) == nil)
    }

    @Test("P80: a manager that does not listen is no error")
    func dead() {
        Supervisor(["NOTIFY_SOCKET": "/nowhere/at/all"])?.notify("READY=1")
        Supervisor(["NOTIFY_SOCKET": "@reactor-nobody-\(getpid())"])?.notify("READY=1")
    }
}
