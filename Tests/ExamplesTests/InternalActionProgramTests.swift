import TestPrograms
import Testing

@Suite("Actions that only the daemon sends, in reactorctl", .timeLimit(.minutes(10)))
struct InternalActionProgramTests {
    @Test("reactorctl does not offer such an action, and reports that only the daemon sends it")
    func forbidden() async throws {
        let home = TestDirectory()
        let config = "data:\n  directory: \(home.path("data"))\n  reserveBytes: 0\n"
        let reactorctl = ClientProgram(
            daemon: try await DaemonProcess.start("deploy-daemon", config: config, in: home))
        let describe = try await reactorctl("describe", "/")
        #expect(describe.output.contains("release") && !describe.output.contains("assign"))
        let refusal = #"/: only the daemon sends "assign""#
        for action in [#"{"assign":{}}"#, #""assign""#, #"{"assign":7}"#] {
            let run = try await reactorctl("dispatch", "/", action)
            #expect(run.code == 77 && run.errors.contains(refusal), "\(run)")
        }
        let batch = try await reactorctl("batch", "-", input: #"/ {"assign":{}}"# + "\n")
        #expect(batch.code == 77, "\(batch)")
        #expect(batch.errors.contains("line 1, column 3: \(refusal)"), "\(batch)")
        let misspelt = try await reactorctl("dispatch", "/", #"{"asign":{}}"#)
        #expect(misspelt.code == 65 && misspelt.errors.contains("unknown case"), "\(misspelt)")
        #expect(!misspelt.errors.contains("assign"), "\(misspelt)")
    }
}
