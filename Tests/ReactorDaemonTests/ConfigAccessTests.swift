import ReactorServer
import ReactorWire
import Testing

@testable import ReactorDaemon

/// Drives ``ConfigAccess``.
@Suite("AccessRules")
struct ConfigAccessTests {
    private func access(_ section: String) throws -> AccessRules? {
        try DaemonConfig(yaml: "access: \(section)\n" + oneReactor, file: "r.yaml").access
    }

    @Test("rules have a path, callers and rights; without the section there are none")
    func rules() throws {
        #expect(try DaemonConfig(yaml: oneReactor, file: "r.yaml").access == nil)
        #expect(try access("") == AccessRules())
        let rules = try access(
            """

              default: see
              rules:
                - {path: /team, to: {group: root}, may: use}
                - {path: /team/secret, to: anyone, may: none}
                - {path: "/a%2Fb", to: {user: root}, may: [read, {actions: [claim, finish]}]}
                - {path: /visits, to: {uid: 1001}, may: [read, history, actions]}
                - {path: /jobs, to: {uid: 1002}, may: own}
                - {path: /, to: {gid: 7}, may: admin}
            """)
        let some = AccessRights(.read, actions: ["claim", "finish"])
        let expected = AccessRules(
            [
                .init(SlicePath(["team"]), to: .gid(0), may: .use),
                .init(SlicePath(["team", "secret"]), to: .anyone, may: .none),
                .init(SlicePath(["a/b"]), to: .uid(0), may: some),
                .init(
                    SlicePath(["visits"]), to: .uid(1_001),
                    may: AccessRights([.read, .history, .act])),
                .init(SlicePath(["jobs"]), to: .uid(1_002), may: AccessRights(.own)),
                .init(.root, to: .gid(7), may: AccessRights(.admin)),
            ], fallback: AccessRights(.see))
        #expect(rules == expected)
    }

    @Test(
        "a mistake in a rule is reported with its line, its key and what is expected",
        arguments: [
            (
                "{path: team, to: anyone, may: use}",
                "access.rules[0].path: path team: a path starts"
            ),
            ("{path: /a, to: all, may: use}", "access.rules[0].to: expected anyone, or one of"),
            ("{path: /a, to: {user: no-such}, may: use}", "there is no user \"no-such\""),
            ("{path: /a, to: {group: no-such}, may: use}", "there is no group \"no-such\""),
            ("{path: /a, to: {uid: 65534}, may: use}", "expected a number below 65534"),
            ("{path: /a, to: {uids: 5}, may: use}", "did you mean uid?"),
            ("{path: /a, to: {uid: 5, gid: 5}, may: use}", "got 2 keys"),
            ("{path: /a, to: anyone, may: write}", "expected one of none, see, read, use, actions"),
            ("{path: /a, to: anyone, may: [read, none]}", "expected one of see, read, use"),
            ("{path: /a, to: anyone, may: owns}", "expected one of none, see, read, use, actions"),
            ("{path: /a, to: anyone, may: []}", "expected verbs, or `none`, got an empty list"),
            ("{path: /a, to: anyone, may: [{action: [x]}]}", "did you mean actions?"),
            ("{path: /a, to: anyone}", "a rule needs path, to and may: may is missing"),
            ("{path: /a, too: anyone, may: use}", "did you mean to?"),
            ("/a", "expected a rule such as"),
        ])
    func mistakes(rule: String, hint: String) {
        let lines = refusals("access:\n  rules:\n    - \(rule)\n" + oneReactor)
        #expect(lines.count == 1 && lines[0].contains(hint), "\(lines)")
        #expect(lines.first?.hasPrefix("r.yaml:3:") == true)
    }

    @Test("the summary shows every rule with its callers and rights")
    func summary() throws {
        let yaml = """
            socket: { path: /run/s, mode: "0666" }
            access:
              rules:
                - {path: /a, to: {uid: 5}, may: [read, {actions: [add]}]}
                - {path: /b, to: anyone, may: none}
            \(oneReactor)
            """
        let lines = try DaemonConfig(yaml: yaml, file: "r.yaml")
            .summary(environment: [:], uid: 1).split(separator: "\n")
        #expect(lines.contains { $0.hasSuffix("uid 5: see, read, actions add") })
        #expect(lines.contains { $0.hasSuffix("anyone: none") })
        #expect(lines.contains { $0.hasPrefix("mode ") && $0.hasSuffix(" 0666") })
    }
}
