import ReactorServer
import Testing

@testable import ReactorDaemon

struct ConfigSectionTests {
    @Test(
        "the error for a file that is not a mapping names its type",
        arguments: [("- a\n", "a list"), ("hello\n", "\"hello\"")])
    func noMapping(yaml: String, got: String) {
        #expect(refusals(yaml) == ["r.yaml:1:1: expected keys such as `reactors:`, got \(got)"])
    }

    @Test("a section whose keys are all commented out keeps the defaults")
    func commentedOut() throws {
        let config = try DaemonConfig(
            yaml: "log:\nloop: ~\nlimits:\n  #inFlightMax: 1\n" + oneReactor, file: "r.yaml")
        #expect(config.limits == ServerLimits())
    }

    @Test(
        "an unknown key is reported with the nearest known one",
        arguments: [
            ("limit: {}\n", "r.yaml:1:1: unknown key \"limit\", did you mean limits?"),
            (
                "log: { levle: info }\n",
                "r.yaml:1:8: log: unknown key \"levle\", did you mean level?"
            ),
            (
                "extras: 1\n",
                "r.yaml:1:1: unknown key \"extras\", "
                    + "expected one of socket, admin, access, data, cluster, log, metrics, slowLog, "
                    + "limits, quotas, loop, process, reactors"
            ),
        ])
    func unknownKey(yaml: String, message: String) {
        #expect(refusals(yaml + oneReactor) == [message])
    }
}
