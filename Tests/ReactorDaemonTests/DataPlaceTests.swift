import Testing

@testable import ReactorDaemon

@Suite("DataPlace")
struct DataPlaceTests {
    @Test("data lie where systemd says, else where the user's state lies; root's in /var/lib")
    func choice() {
        func place(_ environment: [String: String], uid: UInt32 = 1_000) -> String? {
            DataPlace.choose(environment, uid: uid)
        }
        #expect(place(["STATE_DIRECTORY": "/var/lib/a:/b", "HOME": "/h"]) == "/var/lib/a")
        #expect(place(["HOME": "/h"], uid: 0) == "/var/lib/reactord")
        #expect(place(["XDG_STATE_HOME": "/x", "HOME": "/h"]) == "/x/reactord")
        #expect(place(["HOME": "/h"]) == "/h/.local/state/reactord")
        #expect(place(["XDG_STATE_HOME": "relative", "HOME": ""]) == nil)
        #expect(place([:]) == nil)
    }
}
