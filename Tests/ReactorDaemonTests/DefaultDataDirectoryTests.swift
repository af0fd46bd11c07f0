import Testing

@testable import ReactorDaemon

@Suite("DefaultDataDirectory")
struct DefaultDataDirectoryTests {
    private func directory(
        _ environment: [String: String], uid: UInt32 = 1_000, of daemon: String = "reactord"
    ) throws -> DefaultDataDirectory? {
        try DefaultDataDirectory(of: daemon, environment, uid: uid)
    }

    @Test("each daemon has a directory of its own name, unless systemd gives it one")
    func names() throws {
        #expect(try directory(["HOME": "/h"], uid: 0, of: "a")?.path == "/var/lib/a")
        #expect(try directory(["XDG_STATE_HOME": "/x"], of: "a")?.path == "/x/a")
        #expect(try directory(["HOME": "/h"], of: "a")?.path == "/h/.local/state/a")
        #expect(try directory(["STATE_DIRECTORY": "/s"], of: "no/name")?.path == "/s")
        do {
            _ = try directory(["HOME": "/h"], of: "no/name")
            Issue.record("a directory of that name is elsewhere")
        } catch {
            #expect("\(error)".contains("slash"))
        }
    }

    @Test(
        "data is stored where systemd says, else in the user's state directory; root's in /var/lib")
    func choice() throws {
        let systemd = try directory(["STATE_DIRECTORY": "/var/lib/a:/b", "HOME": "/h"])
        #expect(systemd?.path == "/var/lib/a")
        #expect(try directory(["HOME": "/h"], uid: 0)?.path == "/var/lib/reactord")
        #expect(try directory(["XDG_STATE_HOME": "/x", "HOME": "/h"])?.path == "/x/reactord")
        #expect(try directory(["HOME": "/h"])?.path == "/h/.local/state/reactord")
        #expect(try directory(["XDG_STATE_HOME": "relative", "HOME": ""]) == nil)
        #expect(try directory([:]) == nil)
    }

    @Test("the variable that determined the directory is named")
    func origin() throws {
        #expect(try directory(["STATE_DIRECTORY": "/s"])?.origin == "$STATE_DIRECTORY")
        #expect(try directory(["HOME": "/h"], uid: 0)?.origin == "the default for root")
        #expect(try directory(["XDG_STATE_HOME": "/x"])?.origin == "$XDG_STATE_HOME")
        #expect(try directory(["HOME": "/h"])?.origin == "$HOME")
    }
}
