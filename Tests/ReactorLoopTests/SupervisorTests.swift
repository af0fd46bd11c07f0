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

    @Test("P80: a watchdog that watches another process, or none, gets no reports")
    func watchdog() {
        func timeout(_ environment: [String: String]) -> Duration? {
            Supervisor(environment.merging(["NOTIFY_SOCKET": "/a"]) { $1 })?.watchdogTimeout
        }
        #expect(timeout([:]) == nil)
        #expect(timeout(["WATCHDOG_USEC": "many"]) == nil)
        #expect(timeout(["WATCHDOG_USEC": "0"]) == nil)
        #expect(timeout(["WATCHDOG_USEC": "1500000", "WATCHDOG_PID": "1"]) == nil)
        #expect(timeout(["WATCHDOG_USEC": "1500000"]) == .milliseconds(1_500))
        #expect(
            timeout(["WATCHDOG_USEC": "20000", "WATCHDOG_PID": "\(getpid())"])
                == .milliseconds(20))
    }
}
