import ReactorLoop
import Testing

@testable import ReactorDaemon

/// Drives ``ConfigSocket``.
@Suite("ConfigSocket")
struct ConfigSocketTests {
    @Test("the socket is a path, or a section with a path, a mode and a group")
    func forms() throws {
        let plain = try DaemonConfig(yaml: "socket: /run/s\n" + oneReactor, file: "r.yaml")
        #expect(plain.socket == "/run/s" && plain.permissions == SocketPermissions())
        let text = "socket: { path: /run/s, mode: \"0660\", group: root }\n"
        let section = try DaemonConfig(yaml: text + oneReactor, file: "r.yaml")
        #expect(section.socket == "/run/s")
        #expect(section.permissions == SocketPermissions(mode: 0o660, gid: 0))
        let mode = try DaemonConfig(yaml: "socket: { mode: 0660 }\n" + oneReactor, file: "r.yaml")
        #expect(mode.socket == nil && mode.permissions.mode == 0o660)
    }

    @Test("the socket for administrators has another path than that for all clients")
    func admin() throws {
        let config = try DaemonConfig(
            yaml: "admin: { socket: /run/a }\n" + oneReactor, file: "r.yaml")
        #expect(config.adminSocket == "/run/a")
        for (text, hint) in [
            ("socket: /run/a\nadmin: { socket: /run/a }\n", "give one of them another path"),
            ("admin: { socket: run/a }\n", "is relative"),
            ("admin: { sokcet: /run/a }\n", "did you mean socket?"),
        ] {
            let lines = refusals(text + oneReactor)
            #expect(lines.count == 1 && lines[0].contains(hint), "\(lines)")
        }
    }

    @Test(
        "an invalid value is refused, with the expected value or the nearest name",
        arguments: [
            ("{ mode: 660 }", "expected four octal digits"),
            ("{ mode: \"0460\" }", "expected four octal digits"),
            ("{ mode: \"1600\" }", "expected four octal digits"),
            ("{ mode: \"0668\" }", "expected four octal digits"),
            ("{ group: no-such-group }", "there is no group \"no-such-group\""),
            ("{ paht: /run/s }", "did you mean path?"),
            ("{ path: run/s }", "is relative"),
            ("{ mode: \"0666\" }", "add `access:`"),
        ])
    func refused(section: String, hint: String) {
        let lines = refusals("socket: \(section)\n" + oneReactor)
        #expect(lines.count == 1 && lines[0].contains(hint), "\(lines)")
    }
}
