import TestPrograms
import Testing

@Suite("login-demo as two processes", .timeLimit(.minutes(10)))
struct LoginDemoTests {
    @Test("input in one process appears in the other at once, but never the password")
    func shared() async throws {
        let daemon = try await DaemonProcess.start("login-daemon", config: nil)
        let demo = ClientProgram("login-demo", daemon: daemon)
        let show = try demo.start(["show"], name: "show")
        #expect(await show.says("user []"))

        let short = try await demo("type", input: "user Ada\n")
        #expect(short.code == 0, "\(short.errors)")
        #expect(await show.says("user [Ada]  password []  the user name needs at least 7"))

        let whole = try await demo(
            "type", input: "user Ada Lovelace\npassword analytical\nlogin\npassword Analytical-1\n")
        #expect(whole.lines == ["not yet: the password needs a capital"])
        #expect(await show.says("password [••••••••••••]  ready to log in"))

        #expect(try await demo("type", input: "login\n").output == "")
        #expect(await show.ended() == .exited(0))
        #expect(show.output.hasSuffix("welcome, Ada Lovelace\n"))
        #expect(!show.output.contains("nalytical"))
    }

    @Test("an unknown line is answered with the known ones")
    func nonsense() async throws {
        let daemon = try await DaemonProcess.start("login-daemon", config: nil)
        let demo = ClientProgram("login-demo", daemon: daemon)
        let run = try await demo("type", input: "hello\n")
        #expect(run.lines == ["type `user TEXT`, `password TEXT` or `login`"])
    }
}
