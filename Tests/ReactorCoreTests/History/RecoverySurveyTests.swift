import ReactorWire
import Testing

@testable import ReactorCore

@Reactor
private struct Gauge {
    enum Action: Equatable { case set(Int) }
    struct State: Equatable { var level = 0 }

    func reduce(state: inout State, mutation: Action) {
        switch mutation {
        case .set(let level): state.level = level
        }
    }
}

@Suite("A survey of a history")
struct RecoverySurveyTests {
    private let tree = Tree(Gauge(), epoch: 1)

    /// The schemas of a gauge that had a field `height`.
    private var former: KeptSchema {
        let field = WireSchema.Field(name: "height", schema: Int.wireSchema)
        return KeptSchema(
            reactor: "Gauge", fingerprint: 9, version: 1,
            state: .record(WireSchema.Record(name: "Gauge.State", fields: [field])),
            mutation: Gauge.Action.wireSchema,
            action: .choice(
                WireSchema.Choice(
                    name: "Gauge.Action",
                    cases: [WireSchema.Case(name: "lift", payload: .single(Int.wireSchema))])))
    }

    private func record(_ state: WireValue) -> NodeRecord {
        var record = NodeRecord(number: 0, path: .root)
        record.reactor = "Gauge"
        record.fingerprint = 9
        record.state = state.wireBytes()
        return record
    }

    private func lift(_ name: String, due: Int64) -> TaskFact {
        .timer(
            node: 0, name: name, id: UInt64(due), planned: due, span: 0, period: nil,
            catchUp: .once, action: WireEmbedded(["lift": 1] as WireValue))
    }

    @Test("every reason is named: a field, a missing reactor, plans with their number and time")
    func all() throws {
        let recovery = TreeRecovery(of: tree)
        let survey = recovery.beginSurvey()
        recovery.learn([former])
        try recovery.assign([
            record(["height": 3]), NodeRecord(number: 1, path: SlicePath(["gone"])),
            NodeRecord(number: 2, path: SlicePath(["gone", "below"])),
        ])
        recovery.replay(lift("later", due: 2_000))
        recovery.replay(lift("sooner", due: 1_000))
        try recovery.finish(epoch: 1, sequence: 0)
        try recovery.checkTasks()
        let changes = survey.differences.map { "\($0.kind) \($0.change.path.joined())" }
        #expect(changes == ["state height", "state level", "action lift", "action set"])
        #expect(survey.differences.map(\.isEveryValueRead) == [false, false, false, false])
        let plans = try #require(survey.plans.first)
        #expect(survey.plans.count == 1 && plans.count == 2 && plans.due == 1_000)
        #expect("\(plans)".contains(#"2 plans of the action "lift" wait, the next is due 1970-"#))
        #expect(survey.refusals.count == 3, "\(survey.refusals)")
        #expect(survey.refusals.contains(.missing(path: "/gone")))
    }

    @Test("values that are read despite a difference are marked so")
    func read() throws {
        let recovery = TreeRecovery(of: tree)
        let survey = recovery.beginSurvey()
        recovery.learn([former])
        try recovery.assign([record(["level": 3])])
        try recovery.finish(epoch: 1, sequence: 0)
        #expect(survey.refusals.isEmpty)
        let line = try #require(survey.differences.first?.description)
        #expect(line.hasPrefix("/: Gauge state (every stored value is read): needs a decision"))
    }

    @Test("without a survey, the first difference ends the replay")
    func none() throws {
        let recovery = TreeRecovery(of: tree)
        recovery.learn([former])
        #expect(throws: RecoveryError.self) { try recovery.assign([record(["height": 3])]) }
    }
}
