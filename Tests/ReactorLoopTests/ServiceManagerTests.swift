import Glibc
import ReactorLoop
import Testing

@Suite("Service manager")
struct ServiceManagerTests {
    @Test("P80: who is not told of a manager tells nobody", arguments: ["", "/", "relative", "@"])
    func absent(path: String) {
        #expect(ServiceManager([:]) == nil)
        #expect(ServiceManager(["NOTIFY_SOCKET": path]) == nil)
        let long = "/" + String(repeating: "x", count: UnixAddress.pathBytesMax)
        #expect(ServiceManager(["NOTIFY_SOCKET": long]) == nil)
    }

    @Test("P80: a manager that does not listen is no error")
    func dead() {
        ServiceManager(["NOTIFY_SOCKET": "/nowhere/at/all"])?.tell("READY=1")
        ServiceManager(["NOTIFY_SOCKET": "@reactor-nobody-\(getpid())"])?.tell("READY=1")
    }
}
