import ReactorServer
import Testing

@testable import ReactorDaemon

/// Drives ``ConfigQuotas``, ``ConfigCaller`` and ``RateText``.
@Suite("Quotas in the configuration")
struct ConfigQuotasTests {
    private func config(_ section: String) throws -> DaemonConfig {
        try DaemonConfig(yaml: "quotas:\(section)\n" + oneReactor, file: "r.yaml")
    }

    @Test("rules name users and what each may use; without the section there are none")
    func rules() throws {
        #expect(try DaemonConfig(yaml: oneReactor, file: "r.yaml").quotas == QuotaRules())
        #expect(try config("").quotas == QuotaRules())
        let config = try config(
            """

              - {to: {group: root}, connections: 32, memory: 16MiB, actions: 5000/s, journal: 256MiB/h}
              - {to: {user: root}, actions: 7/m}
              - {to: anyone, journal: 1GiB/d}
            """)
        var (batch, root, all) = (UserQuota(), UserQuota(), UserQuota())
        batch.connectionsMax = 32
        batch.memoryMax = 16 << 20
        batch.actions = TokenRate(5_000, in: 1_000_000_000)
        batch.journal = TokenRate(256 << 20, in: 3_600_000_000_000)
        root.actions = TokenRate(7, in: 60_000_000_000)
        all.journal = TokenRate(1 << 30, in: 86_400_000_000_000)
        #expect(
            config.quotas
                == QuotaRules([
                    .init(to: .gid(0), batch), .init(to: .uid(0), root), .init(to: .anyone, all),
                ]))
        let lines = try config.summary(environment: ["TMPDIR": "/tmp"], uid: 1)
            .split(separator: "\n")
        #expect(
            lines.contains {
                $0.hasSuffix("connections 32, memory 16MiB, actions 5000/s, journal 256MiB/h")
            })
        #expect(lines.contains { $0.hasSuffix("actions 7/m") })
    }

    @Test(
        "a mistake in a rule is reported with its line, its key and what is expected",
        arguments: [
            ("{to: {user: no-such}, actions: 1/s}", "there is no user \"no-such\""),
            ("{to: {group: no-such}, actions: 1/s}", "there is no group \"no-such\""),
            ("{to: {uid: 65534}, actions: 1/s}", "expected a number below 65534"),
            ("{to: all, actions: 1/s}", "quotas[0].to: expected anyone, or one of"),
            ("{to: anyone, action: 1/s}", "unknown key \"action\", did you mean actions?"),
            ("{to: anyone}", "connections or memory or actions or journal is missing"),
            ("{actions: 1/s}", "a rule needs to and a quota: to is missing"),
            ("{to: anyone, actions: 5000}", "a rate for each s, m, h or d, such as 5000/s"),
            ("{to: anyone, actions: 5/w}", "a rate for each s, m, h or d"),
            ("{to: anyone, actions: 0/s}", "expected 1 to 1000000000, before the slash"),
            ("{to: anyone, actions: x/s}", "expected a whole number, before the slash"),
            ("{to: anyone, journal: 5mb/h}", "a byte size such as"),
            ("{to: anyone, journal: 5/h}", "expected 1KiB to"),
            ("{to: anyone, memory: 5}", "expected 1MiB to"),
            ("{to: anyone, connections: 0}", "expected 1 to 1000000"),
            ("anyone", "expected a rule such as"),
        ])
    func mistakes(rule: String, hint: String) {
        let lines = refusals("quotas:\n  - \(rule)\n" + oneReactor)
        #expect(lines.count == 1 && lines[0].contains(hint), "\(lines)")
        #expect(lines.first?.hasPrefix("r.yaml:2:") == true)
    }

    @Test("a mapping in the place of the list is refused")
    func mapping() {
        let lines = refusals("quotas: { to: anyone }\n" + oneReactor)
        #expect(lines.count == 1 && lines[0].contains("expected a list of rules"))
    }

    @Test("a reload applies other quotas")
    func change() throws {
        let former = try config(" [{to: anyone, actions: 1/s}]")
        let wanted = try config(" [{to: anyone, actions: 2/s}]")
        let change = ConfigChange(of: former, to: wanted)
        #expect(change.applied == ["quotas"] && change.needsRestart == [])
        #expect(change.config.quotas == wanted.quotas)
    }
}
