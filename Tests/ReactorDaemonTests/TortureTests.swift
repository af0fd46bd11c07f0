import Foundation
import TestPrograms
import Testing

/// A few rounds of what `Config/torture` does for hours.
@Suite("Torture, in short", .timeLimit(.minutes(5)))
struct TortureTests {
    @Test("J48, P74, C85, C86: killed ten times, nothing told is lost and nothing is done twice")
    func kills() async throws {
        let directory = TestDirectory()
        let python = try await PythonClientTests.python(
            [
                Built.root + "/Tests/Torture/torture.py", "kills", "--count", "10", "--quick",
                "--daemon", Built.product("reactord"), "--home", directory.path("torture"),
            ], in: directory)
        #expect(await python.ended() == .exited(0), "\(python.output)\n\(python.errors)")
        #expect(python.output.contains("passed: kills"))
    }
}
