import Foundation
import TestPrograms
import Testing

/// A few rounds of what `Config/torture` does for hours.
@Suite("Torture, in short", .timeLimit(.minutes(10)))
struct TortureTests {
    @Test(
        """
        J48: six power cuts take nothing from `strict`; three take a tail from `relaxed`, nothing \
        that was told to be durable, and whoever comes back is told of the new epoch
        """)
    func cuts() async throws {
        try await torture("cuts", "--count", "6")
    }

    @Test("J48, P74, C85, C86: ten kills lose nothing that was acknowledged, and double nothing")
    func kills() async throws {
        try await torture("kills", "--count", "10", "--quick")
    }

    @Test(
        """
        J48, J57, J58, J59, J60, J61, J64: killed, refused or cut short at one call in so many, \
        it loses nothing
        """,
        // because few calls synchronize, more of those are taken
        arguments: [
            ("before,half", 25), ("after", 12), ("EIO", 4), ("EROFS,EACCES", 12),
            ("EIO-write,ENOSPC", 25), ("EIO-read,EDQUOT", 25), ("EINTR,short", 25),
        ])
    func calls(plans: String, step: Int) async throws {
        try await torture("calls", "--plans", plans, "--step", "\(step)")
    }

    @Test("P73: SIGTERM ends it within five seconds, whoever does not read; a second one at once")
    func terminated() async throws {
        try await torture("scenarios", "--only", "terminated")
    }

    @Test("P74: after SIGSTOP and CONT all go on, no timer catches up, and who went holds nothing")
    func stopped() async throws {
        try await torture("scenarios", "--only", "stopped,parted")
    }

    @Test("P74: whose greeting or frame came while it was stopped is not cut for being late")
    func halfway() async throws {
        try await torture("scenarios", "--only", "halfway")
    }

    @Test("J59: at the largest size of a file it is read-only, and goes on when that is raised")
    func limited() async throws {
        try await torture("scenarios", "--only", "limited")
    }

    @Test("J62: a sync that takes 3 seconds holds up answers, and not the loop")
    func slow() async throws {
        try await torture("scenarios", "--only", "slow")
    }

    @Test("J51, J56, J64, J66: what is unsafe, damaged or in use is refused by name")
    func refusals() async throws {
        try await torture(
            "scenarios", "--only", "doubled,bound,unsafe,damaged_journal,damaged_snapshot")
    }

    private func torture(_ command: String, _ options: String...) async throws {
        let directory = TestDirectory()
        let script = Built.root + "/Tests/Torture/torture.py"
        let python = try await PythonClientTests.python(
            [script, command] + options
                + ["--daemon", Built.product("reactord"), "--home", directory.path("torture")],
            in: directory)
        #expect(await python.ended() == .exited(0), "\(python.output)\n\(python.errors)")
        #expect(python.output.contains("passed: \(command)"))
    }
}
