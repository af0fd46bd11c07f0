import ReactorCore
import Testing

@testable import ReactorClient

struct DispatchOutcomeTests {
    private let revision = Revision(epoch: 7, sequence: 3)

    @Test("an outcome from the wire belongs to the client's present history")
    func fromWire() {
        let reply = WireEmbedded(5)
        #expect(
            ActionOutcome(.applied(sequence: 3, reply: reply, ownerEnded: false), epoch: 7)
                == .applied(revision, reply: reply))
        #expect(
            ActionOutcome(.applied(sequence: 3, reply: nil, ownerEnded: true), epoch: 7)
                == .ownerEnded(revision, reply: nil))
        #expect(
            ActionOutcome(.rejected(code: "held", message: "by 7"), epoch: 7)
                == .rejected(Rejection("held", "by 7")))
        #expect(ActionOutcome(.failed(message: "no"), epoch: 7) == .failed(message: "no"))
    }

    @Test("a reply is decoded as its type")
    func typed() {
        let reply = WireEmbedded(5)
        #expect(
            ActionOutcome.applied(revision, reply: reply).typed(as: Int.self)
                == .applied(revision, reply: 5))
        #expect(
            ActionOutcome.ownerEnded(revision, reply: nil).typed(as: Int.self)
                == .ownerEnded(revision, reply: nil))
        let rejection = Rejection("held", "by 7")
        #expect(ActionOutcome.rejected(rejection).typed(as: Int.self) == .rejected(rejection))
        #expect(ActionOutcome.failed(message: "no").typed(as: Int.self) == .failed(message: "no"))
        #expect(
            ActionOutcome.unknown(.sessionExpired).typed(as: Int.self) == .unknown(.sessionExpired))
    }

    @Test("a reply of another type is a failure that names the action as applied")
    func unreadable() {
        let outcome = ActionOutcome.applied(revision, reply: WireEmbedded("text"))
        guard case .failed(let message) = outcome.typed(as: Int.self) else {
            Issue.record("a text was read as a number")
            return
        }
        #expect(message.hasPrefix("applied"))
    }

    @Test("only an applied action has a revision")
    func revisions() {
        #expect(ActionOutcome.applied(revision, reply: nil).revision == revision)
        #expect(ActionOutcome.ownerEnded(revision, reply: nil).revision == revision)
        #expect(ActionOutcome.rejected(Rejection("held", "")).revision == nil)
        #expect(ActionOutcome.failed(message: "").revision == nil)
        #expect(ActionOutcome.unknown(.ended).revision == nil)
    }

    @Test("C87: an unknown outcome has a reason")
    func unknown() {
        #expect(ActionOutcome.unknown(.sessionExpired).isUnknown)
        #expect(!ActionOutcome.failed(message: "no").isUnknown)
        #expect("\(UnknownReason.sessionExpired)".hasPrefix("session expired"))
        let all: Set = [
            "\(UnknownReason.cancelled)", "\(UnknownReason.ended)", "\(UnknownReason.kept)",
            "\(UnknownReason.sessionExpired)", "\(UnknownReason.historyLost)",
            "\(UnknownReason.forgotten)",
        ]
        #expect(all.count == 6)
    }

    @Test("C87: an action whose outcome the daemon has forgotten counts as unknown, not as refused")
    func forgotten() {
        let told = Outcome.rejected(code: FaultCode.ordinal.rawValue, message: "not remembered")
        #expect(ActionOutcome(told, epoch: 7) == .unknown(.forgotten))
    }
}
