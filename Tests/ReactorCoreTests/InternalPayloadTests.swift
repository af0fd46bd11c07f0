import ReactorWire
import Testing

@testable import ReactorCore

/// A command, of which the daemon alone sends `stop`.
@WireCodable
indirect enum YardCommand: Hashable, Sendable {
    case lift(Int)
    case each([YardCommand])
    @WireInternal @WireAlias("halt") case stop

    var stops: Bool {
        switch self {
        case .lift: false
        case .each(let all): all.contains(where: \.stops)
        case .stop: true
        }
    }
}

/// Commands below each other, as deep as an action may be.
@WireCodable
struct YardPlan: Equatable, Sendable {
    var parts: [YardPlan] = []
    var command: YardCommand?

    var stops: Bool { parts.contains(where: \.stops) || command?.stops ?? false }

    static func random(_ depth: Int, _ random: inout SeededGenerator) -> YardPlan {
        let count = depth == 0 ? 0 : Int.random(in: 0...2, using: &random)
        var plan = YardPlan()
        for _ in 0..<count { plan.parts.append(.random(depth - 1, &random)) }
        switch Int.random(in: 0...9, using: &random) {
        case 0: plan.command = .stop
        case 1: plan.command = .each([.lift(1), .stop])
        case 2...5: plan.command = .each([.lift(1), .each([])])
        default: break
        }
        return plan
    }
}

/// A type whose arguments change places at each step down.
@WireCodable
indirect enum Either<
    Left: WireCodable & Hashable & Sendable, Right: WireCodable & Hashable & Sendable
>:
    Hashable, Sendable
{
    case left(Left)
    case right(Right)
    case flip(Either<Right, Left>)
}

@Reactor
private struct Yard {
    enum Action: BindableAction {
        case binding(BindingAction<State>)
        case plan(YardPlan)
        case either(Either<YardCommand, Int>)
        case list([YardCommand?])
        case set(Set<YardCommand>)
        case table([String: YardCommand])
        case keyed(Keyed<Int, YardCommand>)
        case undo(Undoable<YardCommand>)
        case load(AsyncLoad<YardCommand, LoadError>)
    }
    enum Mutation { case changed }
    struct State: BindableState {
        var mode: YardCommand = .lift(0)
        var changes = 0

        static let bindableFields = [bindable("mode", \.mode)]
    }

    func mutate(action: Action) -> Mutations<Mutation> { [.changed] }
    func reduce(state: inout State, mutation: Mutation) { state.changes += 1 }
}

/// A reactor whose action contains itself.
@Reactor
private struct Relay {
    indirect enum Action {
        case all([Action])
        case go
        @WireInternal case stop
    }
    enum Mutation { case changed }
    struct State { var changes = 0 }

    func mutate(action: Action) -> Mutations<Mutation> { [.changed] }
    func reduce(state: inout State, mutation: Mutation) { state.changes += 1 }
}

/// Drives ``InternalActions``.
@Suite("Cases in payloads that only the daemon sends", .timeLimit(.minutes(10)))
struct InternalPayloadTests {
    /// The code of the refusal of an action by a client; nil if it is applied.
    private func refusal(of bytes: [UInt8]) -> String? {
        let tree = Tree(Yard(), epoch: 1)
        let result = tree.dispatch(to: tree.root, bytes.span, by: .connection(1), ordinal: 1)
        guard case .failed(let failure) = result else { return nil }
        #expect(tree.revision.sequence == 0)
        switch failure {
        case .rejected(let rejection): return rejection.code
        case .decode(let error): return "\(error)"
        }
    }

    @Test(
        "a client's action is refused in each spelling and in each kind of part",
        arguments: [
            #"{"binding":{"mode":"stop"}}"#, #"{"binding":{"mode":{"stop":{}}}}"#,
            #"{"binding":{"mode":{"halt":{}}}}"#, #"{"binding":{"mode":{"each":["halt"]}}}"#,
            #"{"list":[null,"stop"]}"#, #"{"list":[{"lift":1},{"halt":{}}]}"#,
            #"{"set":["stop"]}"#, #"{"table":{"a":{"lift":1},"b":"halt"}}"#,
            #"{"keyed":{"1":{"lift":1},"7":"stop"}}"#,
            #"{"load":{"loaded":{"each":["stop"]}}}"#,
            #"{"either":{"left":"stop"}}"#, #"{"either":{"flip":{"right":"stop"}}}"#,
            #"{"either":{"flip":{"flip":{"left":"stop"}}}}"#,
            #"{"either":{"flip":{"flip":{"flip":{"right":{"each":["halt"]}}}}}}"#,
        ])
    func spellings(json: String) throws {
        #expect(refusal(of: try WireValue(json: Array(json.utf8)).wireBytes()) == "FORBIDDEN")
    }

    @Test(
        "other values of the same parts are applied",
        arguments: [
            #"{"binding":{"mode":{"each":[{"lift":1}]}}}"#, #"{"list":[null,{"lift":1}]}"#,
            #"{"set":[{"lift":1}]}"#, #"{"table":{"stop":{"lift":1}}}"#,
            #"{"keyed":{"1":{"lift":1}}}"#, #"{"load":"loading"}"#,
            #"{"either":{"flip":{"flip":{"right":7}}}}"#, #"{"either":{"flip":{"left":7}}}"#,
        ])
    func others(json: String) throws {
        #expect(refusal(of: try WireValue(json: Array(json.utf8)).wireBytes()) == nil)
    }

    @Test("an action inside another one of its type is refused")
    func recursive() {
        func isRefused(_ action: Relay.Action) -> Bool {
            let tree = Tree(Relay(), epoch: 1)
            let result = tree.dispatch(
                to: tree.root, action.wireBytes().span, by: .connection(1), ordinal: 1)
            if case .failed(.rejected(let rejection)) = result {
                return rejection.code == "FORBIDDEN"
            }
            return false
        }
        #expect(isRefused(.stop) && isRefused(.all([.go, .stop])))
        #expect(isRefused(.all([.all([.stop])])))
        #expect(!isRefused(.all([.go, .all([.go])])) && !isRefused(.go))
    }

    @Test("earlier values of an undo count")
    func undo() {
        var value = Undoable<YardCommand>(.lift(1), limit: 3)
        #expect(refusal(of: Yard.Action.undo(value).wireBytes()) == nil)
        value.set(.stop, by: Origin(client: 1, ordinal: 1))
        value.set(.lift(2), by: Origin(client: 1, ordinal: 2))
        #expect(refusal(of: Yard.Action.undo(value).wireBytes()) == "FORBIDDEN")
    }

    @Test(
        "random plans are refused exactly if they contain the case",
        arguments: 0..<8 as Range<UInt64>)
    func plans(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let plan = YardPlan.random(6, &random)
            let code = refusal(of: Yard.Action.plan(plan).wireBytes())
            #expect(code == (plan.stops ? "FORBIDDEN" : nil), "seed \(seed): \(plan)")
        }
    }
}
