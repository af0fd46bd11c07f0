import Testing

@testable import ReactorDaemon

@Suite("DefaultDataDirectory")
struct DefaultDataDirectoryTests {
    private func directory(
        _ environment: [String: String], uid: UInt32 = 1_000
    ) -> DefaultDataDirectory? {
        DefaultDataDirectory(environment, uid: uid)
    }

    @Test(
        "data is stored where systemd says, else in the user's state directory; root's in /var/lib")
    func choice() {
        let systemd = directory(["STATE_DIRECTORY": "/var/lib/a:/b", "HOME": "/h"])
        #expect(systemd?.path == "/var/lib/a")
        #expect(directory(["HOME": "/h"], uid: 0)?.path == "/var/lib/reactord")
        #expect(directory(["XDG_STATE_HOME": "/x", "HOME": "/h"])?.path == "/x/reactord")
        #expect(directory(["HOME": "/h"])?.path == "/h/.local/state/reactord")
        #expect(directory(["XDG_STATE_HOME": "relative", "HOME": ""]) == nil)
        #expect(directory([:]) == nil)
    }

    @Test("the variable that determined the directory is named")
    func origin() {
        #expect(directory(["STATE_DIRECTORY": "/s"])?.origin == "$STATE_DIRECTORY")
        #expect(directory(["HOME": "/h"], uid: 0)?.origin == "the default for root")
        #expect(directory(["XDG_STATE_HOME": "/x"])?.origin == "$XDG_STATE_HOME")
        #expect(directory(["HOME": "/h"])?.origin == "$HOME")
    }
}
