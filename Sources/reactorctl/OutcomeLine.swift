import ReactorClient
import ReactorCore
import ReactorWire

extension DispatchOutcome<WireEmbedded> {
    /// The outcome as one line of JSON.
    var json: String {
        switch self {
        case .applied(let revision, let reply):
            Self.applied(revision, reply, extra: nil)
        case .ownerEnded(let revision, let reply):
            Self.applied(revision, reply, extra: "ownerEnded")
        case .accepted(let revision):
            WireValue.json(object: [
                "outcome": "accepted", "revision": .text(revision.description),
            ])
        case .rejected(let rejection):
            WireValue.json(object: [
                "outcome": "rejected", "code": .text(rejection.code),
                "message": .text(rejection.message),
            ])
        case .failed(let message):
            WireValue.json(object: ["outcome": "failed", "message": .text(message)])
        case .unknown(let reason):
            WireValue.json(object: ["outcome": "unknown", "message": .text("\(reason)")])
        }
    }

    /// The outcome of the action in line `line` of a batch, for the reactor at `path`.
    func json(line: Int, path: String) -> String {
        "{\"line\":\(line),\"path\":\(WireValue.text(path).json())," + json.dropFirst()
    }

    private static func applied(
        _ revision: Revision, _ reply: WireEmbedded?, extra: String?
    ) -> String {
        let revision = WireValue.text(revision.description)
        let reply = reply.flatMap { try? $0.decode(as: WireValue.self) }
        switch (reply, extra) {
        case (nil, nil):
            return WireValue.json(object: ["outcome": "applied", "revision": revision])
        case (let reply?, nil):
            return WireValue.json(
                object: ["outcome": "applied", "revision": revision, "reply": reply])
        case (let reply, let extra?):
            return WireValue.json(object: [
                "outcome": "applied", "revision": revision, "reply": reply ?? .null,
                extra: .bool(true),
            ])
        }
    }

    /// The reply of an applied action; null without a reply.
    var replyValue: WireValue {
        switch self {
        case .applied(_, let reply), .ownerEnded(_, let reply):
            reply.flatMap { try? $0.decode(as: WireValue.self) } ?? .null
        case .accepted, .rejected, .failed, .unknown: .null
        }
    }

    /// The failure with which the command ends; nil for a success.
    var failure: Failure? {
        switch self {
        case .applied, .ownerEnded, .accepted: nil
        case .rejected(let rejection):
            Failure(Self.code(of: rejection), "rejected: \(rejection.message)")
        case .failed(let message): Failure(Failure.rejectedCode, "failed: \(message)")
        case .unknown(let reason):
            Failure(
                Failure.unknownCode,
                "the connection was lost, and it is unknown whether the action was applied "
                    + "(\(reason)): check the state before you try again")
        }
    }
}

extension DispatchOutcome {
    fileprivate static func code(of rejection: Rejection) -> Int32 {
        let fault = FaultCode(rawValue: rejection.code)
        if fault == .decode { return Failure.badActionCode }
        // An action has no query about the past: with this code the daemon refuses its condition.
        if fault == .history { return Failure.rejectedCode }
        return Failure.code(of: fault) ?? Failure.rejectedCode
    }
}

/// A value with its revision as one line of JSON.
func stateLine(_ revision: Revision, _ value: WireValue?) -> String {
    let revision = WireValue.text(revision.description)
    guard let value else {
        return WireValue.json(
            object: ["revision": revision, "state": .null, "absent": .bool(true)])
    }
    return WireValue.json(object: ["revision": revision, "state": value])
}

extension WireValue {
    /// Creates an unsigned number.
    static func number(_ value: UInt64) -> WireValue {
        .integer(WireInteger(isNegative: false, magnitude: value))
    }
}
