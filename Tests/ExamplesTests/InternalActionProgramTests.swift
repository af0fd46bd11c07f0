import TestPrograms
import Testing

@Suite("Actions that only the daemon sends, in reactorctl", .timeLimit(.minutes(10)))
struct InternalActionProgramTests {
    @Test("reactorctl neither offers such an action nor sends it")
    func unknown() async throws {
        let home = TestDirectory()
        let config = "data:\n  directory: \(home.path("data"))\n  reserveBytes: 0\n"
        let reactorctl = ClientProgram(
            daemon: try await DaemonProcess.start("deploy-daemon", config: config, in: home))
        let describe = try await reactorctl("describe", "/")
        #expect(describe.output.contains("release") && !describe.output.contains("assign"))
        let run = try await reactorctl("dispatch", "/", #"{"assign":{}}"#)
        #expect(run.code == 65 && run.errors.contains("unknown case \"assign\""), "\(run)")
        let batch = try await reactorctl("batch", "-", input: #"/ {"assign":{}}"# + "\n")
        #expect(batch.code == 65 && batch.errors.contains("line 1, column 3"), "\(batch)")
    }
}
