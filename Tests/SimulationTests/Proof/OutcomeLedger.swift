import ReactorCore
import ReactorServer
import ReactorTesting
import ReactorWire

/// All outcomes that clients ever received, recorded outside the server.
final class OutcomeLedger {
    private let world: SimulatedWorld
    /// Clients by the numbers of their connections.
    private var clients: [ConnectionID: UInt64] = [:]
    private var told: [Origin: Told] = [:]
    /// The row that recorded the arrival of an action.
    private var arrivals: [Origin: UInt64] = [:]
    /// Promises by id, with the row that recorded them.
    private var promises: [UInt64: (name: String, row: UInt64)] = [:]
    /// Number of received outcomes, including repeated ones.
    private(set) var toldCount = 0

    private struct Told {
        var outcome: Outcome
        /// The last committed row at that time.
        var row: UInt64
    }

    init(_ world: SimulatedWorld) { self.world = world }

    /// Records the facts of a batch; each action arrives once.
    func note(_ facts: [TurnFact]) {
        let row = world.journal?.lastNumber ?? 0
        for fact in facts {
            switch fact {
            case .run(let by, let ordinal, _, let count, _, _):
                for index in 0..<count { arrive(by.client, ordinal + index, row) }
            case .action(let by, let ordinal, _, _), .refused(let by, let ordinal, _, _, _):
                arrive(by.client, ordinal, row)
            case .task(let fact): note(fact, row)
            default: break
            }
        }
    }

    /// Records promises; each id belongs to one promise.
    private func note(_ fact: TaskFact, _ row: UInt64) {
        let name: String
        let id: UInt64
        switch fact {
        case .effect(let node, let text, let number, _):
            (name, id) = ("\(text) of node \(node)", number)
        case .timer(let node, let text, let number, _, _, _, _, _):
            (name, id) = ("\(text) of node \(node)", number)
        case .done: return
        }
        let old = promises.updateValue((name, row), forKey: id)
        world.expect(
            old?.name ?? name == name, "id \(id) is given to \(name), and was \(old?.name ?? "")")
    }

    private func arrive(_ client: UInt64, _ ordinal: UInt64, _ row: UInt64) {
        let origin = Origin(client: client, ordinal: ordinal)
        let isNew = arrivals.updateValue(row, forKey: origin) == nil
        world.expect(isNew, "action \(ordinal) of client \(client) is applied twice")
    }

    /// Drops the records that a crash lost: those of rows after the cut.
    func crash() {
        guard let journal = world.journal else { return }
        let last = journal.lastNumber
        clients = [:]
        arrivals = arrivals.filter { $0.value <= last }
        told = told.filter { $0.value.row <= last }
        promises = promises.filter { $0.value.row <= last }
    }

    /// Reads the bytes that the server writes to a client.
    func read(_ bytes: [UInt8], to id: ConnectionID) {
        var offset = 0
        while let header = try? FrameHeader.decode(
            bytes.span, at: offset, frameBytesMax: Int(UInt32.max))
        {
            let start = offset + FrameHeader.byteCount
            offset = start + Int(header.length)
            switch FrameKind(rawValue: header.kind) {
            case .welcome:
                let body = Array(bytes[start..<offset])
                clients[id] = (try? Welcome(wireBytes: body.span))?.client
            case .applied:
                let body = Array(bytes[start..<offset])
                guard let sequence = try? UInt64(wireBytes: body.span) else { continue }
                for index in 0..<UInt64(header.id) {
                    let outcome = Outcome.applied(
                        sequence: sequence + index, reply: nil, ownerEnded: false)
                    report(outcome, of: header.number + index, to: id)
                }
            case .outcome:
                let body = Array(bytes[start..<offset])
                guard let outcome = try? Outcome(wireBytes: body.span) else { continue }
                report(outcome, of: header.number, to: id)
            default: break
            }
        }
    }

    private func report(_ outcome: Outcome, of ordinal: UInt64, to id: ConnectionID) {
        guard let client = clients[id], let journal = world.journal else {
            return world.expect(false, "an outcome is written to \(id), which is no client")
        }
        toldCount += 1
        // A read-only server stores nothing.
        if case .rejected(FaultCode.diskFull.rawValue, _) = outcome { return }
        let origin = Origin(client: client, ordinal: ordinal)
        let row = arrivals[origin]
        world.expect(
            row ?? .max <= journal.committedNumber,
            "client \(client) has the outcome of action \(ordinal), in row "
                + "\(row.map(String.init) ?? "none") of \(journal.committedNumber)")
        let first = told[origin]?.outcome
        world.expect(
            first == nil || first?.plain == outcome.plain,
            "client \(client) has for action \(ordinal): \(outcome), after "
                + String(describing: first))
        if case .rejected(FaultCode.ordinal.rawValue, let text) = outcome {
            world.expect(false, "client \(client): \(text)")
        }
        if first == nil { told[origin] = Told(outcome: outcome, row: journal.committedNumber) }
    }
}

extension Outcome {
    /// The outcome without the note that its owner's connection has ended.
    fileprivate var plain: Outcome {
        guard case .applied(let sequence, let reply, _) = self else { return self }
        return .applied(sequence: sequence, reply: reply, ownerEnded: false)
    }
}
