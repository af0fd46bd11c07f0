import Foundation
import ReactorThreads
import TestPrograms
import Testing

/// Short runs of the commands of `Config/torture`. How long something takes is for that to judge: here
/// the machine is busy with other tests.
@Suite("Short torture", .timeLimit(.minutes(10)))
struct TortureTests {
    @Test(
        """
        J48: six power cuts lose nothing of `strict`; three lose a tail of `relaxed`, nothing \
        durable, and reconnecting clients learn of the new epoch
        """)
    func cuts() async throws {
        try await torture("cuts", "--count", "6")
    }

    @Test("J48, P74, C85, C86: ten kills lose no acknowledged action, and double none")
    func kills() async throws {
        try await torture("kills", "--count", "10", "--quick")
    }

    @Test(
        """
        J48, J57, J58, J59, J60, J61, J64: killed, refused or cut short at one of many calls, \
        it loses nothing
        """,
        // Few calls synchronize, so a larger share of these is taken.
        arguments: [
            ("before,half", 25), ("after", 12), ("EIO", 4), ("EROFS,EACCES", 12),
            ("EIO-write,ENOSPC", 25), ("EIO-read,EDQUOT", 25), ("EINTR,short", 25),
        ])
    func calls(plans: String, step: Int) async throws {
        try await torture("calls", "--plans", plans, "--step", "\(step)")
    }

    @Test("P73: SIGTERM ends a daemon despite non-reading clients; a second one ends it at once")
    func terminated() async throws {
        try await torture("scenarios", "--prints", "--only", "terminated")
    }

    @Test(
        "P74: after SIGSTOP clients go on, no timer catches up, and ended clients own nothing"
    )
    func stopped() async throws {
        try await torture("scenarios", "--prints", "--only", "stopped,parted")
    }

    @Test("P74: a client whose HELLO or frame arrived during the stop is not closed for being late")
    func halfway() async throws {
        try await torture("scenarios", "--prints", "--only", "halfway")
    }

    @Test("J59: at the file size limit a daemon is read-only, and continues at a higher limit")
    func limited() async throws {
        try await torture("scenarios", "--prints", "--only", "limited")
    }

    @Test("J62: a sync of 3 seconds delays outcomes, and not the loop")
    func slow() async throws {
        try await torture("scenarios", "--prints", "--only", "slow")
    }

    @Test("J51, J56, J64, J66: an unsafe, damaged or used directory is refused by name")
    func refusals() async throws {
        try await torture(
            "scenarios", "--prints", "--only",
            "doubled,bound,unsafe,damaged_journal,damaged_snapshot")
    }

    @Test("P122: after 20 hot restarts under load, every client has its connection and its lock")
    func restarts() async throws {
        try await torture("restarts", "--count", "20")
    }

    @Test(
        "X117: beside a hostile user at full speed, every action of another user is applied",
        .enabled(if: geteuid() == 0, "only root starts processes of other users"))
    func users() async throws {
        let output = try await torture("users", "--seconds", "5", "--prints")
        StandardError.write(line: output)
    }

    @discardableResult
    private func torture(_ command: String, _ options: String...) async throws -> String {
        // Clients of other users reach the socket in it.
        let directory = try TestDirectory().openToAll()
        let script = Built.root + "/Tests/Torture/torture.py"
        let python = try await PythonClientTests.python(
            [script, command] + options
                + ["--daemon", Built.product("reactord"), "--home", directory.path("torture")],
            in: directory)
        #expect(await python.ended() == .exited(0), "\(python.output)\n\(python.errors)")
        #expect(python.output.contains("passed: \(command)"), "\(python.output)")
        return python.output
    }
}
