import ReactorBytes
import ReactorTesting
import ReactorWire

@testable import ReactorCore
@testable import ReactorServer

/// The server's state after each row that it appended, to compare recovered states and mirrors with
/// it.
final class Chronicle {
    private let world: SimulatedWorld
    /// The states of the last row that certainly survives, and of every later row.
    private var pages: [Page] = []
    /// Encoded states by path, with the sequences at which they changed, in ascending order.
    private var states: [String: [(sequence: UInt64, state: [UInt8])]] = [:]
    /// The last action of a session whose outcome the client has confirmed; earlier outcomes may
    /// be forgotten.
    var confirmed: (_ secret: [UInt8]) -> UInt64 = { _ in .max }
    /// Nodes that changed in batches whose state was read after the server had continued.
    private var owed: Set<UInt32> = []
    private var owesAll = false
    /// Secrets of all sessions that were ever recorded.
    private var stored: Set<[UInt8]> = []
    /// Sequences at the ends of those batches.
    private var blurred: Set<UInt64> = []
    /// Number of recovered rows that were compared.
    private(set) var comparedCount = 0

    /// The server's state after one row.
    private struct Page {
        var number: UInt64
        var sequence: UInt64
        /// Whether the server had already continued when its state was read.
        var isBlurred = false
        var nodes: [UInt32: NodePrint] = [:]
        var sessions: [UInt64: SessionPrint] = [:]
        var ownership: [OwnershipFact] = []
        var tasks: [TaskFact] = []
        var ended: Set<[UInt8]> = []
        var highestClient: UInt64 = 0
        var highestConnection: UInt64 = 0
    }

    struct NodePrint: Equatable {
        var path: String
        var state: [UInt8]
        var sequence: UInt64
        var birth: UInt64
    }

    struct SessionPrint {
        var secret: [UInt8]
        var ordinal: UInt64
        var deferred: Set<UInt64>
        var runs: [AppliedRun]
        var exceptions: [(ordinal: UInt64, outcome: Outcome)]
    }

    init(_ world: SimulatedWorld) {
        self.world = world
        pages = [Page(number: 0, sequence: 0)]
    }
}

// MARK: - Writing
extension Chronicle {
    /// Records the server's state after a batch.
    func note(_ batch: Batch, _ facts: [TurnFact]) {
        guard let journal = world.journal, var page = pages.last else { return }
        world.expect(
            batch.after == page.sequence && batch.sequence >= batch.after,
            "sequences have a gap: \(page.sequence), then \(batch.after) to \(batch.sequence)")
        page.number = journal.lastNumber
        page.sequence = batch.sequence
        // At its end a turn may read held-back input, which belongs to the next turn.
        page.isBlurred =
            world.server.tree.revision.sequence != batch.sequence
            || world.server.isUnsealed
        blurred.remove(batch.sequence)
        if page.isBlurred { blurred.insert(batch.sequence) }
        noteNodes(batch, &page)
        noteFacts(facts, &page)
        // Sessions whose actions were all refused by a full disk are not in the history.
        page.ended = Set(world.server.sessions.ended.all.map(\.secret)).intersection(stored)
        pages.append(page)
        pages.removeAll { $0.number < journal.committedNumber }
    }

    private func noteNodes(_ batch: Batch, _ page: inout Page) {
        let bytes = batch.deltaBytes
        var offset = 0
        var touched: Set<UInt32> = []
        var isStructural = page.nodes.isEmpty
        while let header = try? FrameHeader.decode(
            bytes.span, at: offset, frameBytesMax: Int(UInt32.max))
        {
            touched.insert(header.id)
            if header.flags.contains(.structural) { isStructural = true }
            offset += FrameHeader.byteCount + Int(header.length)
        }
        owed.formUnion(touched)
        owesAll = owesAll || isStructural
        if page.isBlurred { return }
        (touched, isStructural) = (owed, owesAll)
        (owed, owesAll) = ([], false)
        let tree = world.server.tree
        if isStructural {
            let old = page.nodes
            page.nodes = [:]
            tree.forEachNode { node in note(node, old[node.number], &page) }
            return
        }
        for number in touched {
            var node = tree.node(number)
            while let one = node {
                note(one, page.nodes[one.number], &page)
                node = one.parent
            }
        }
    }

    private func note(_ node: AnyNode, _ old: NodePrint?, _ page: inout Page) {
        if let old, old.sequence == node.sequence, old.birth == node.birthSequence {
            page.nodes[node.number] = old
            return
        }
        let print = NodePrint(node)
        page.nodes[node.number] = print
        if let last = states[print.path]?.last, last.state == print.state { return }
        states[print.path, default: []].append((page.sequence, print.state))
    }

    private func noteFacts(_ facts: [TurnFact], _ page: inout Page) {
        var touched: Set<UInt64> = []
        for fact in facts {
            switch fact {
            case .run(let by, _, _, _, _, _), .action(let by, _, _, _),
                .refused(let by, _, _, _, _):
                touched.insert(by.client)
                page.highestConnection = max(page.highestConnection, by.connection)
            case .outcome(let client, _, _): touched.insert(client)
            case .session(let client, let secret, _):
                touched.insert(client)
                stored.insert(secret)
            case .goodbye(let client), .evicted(let client):
                touched.insert(client)
            case .ownership, .task, .schemas, .layout, .made, .replaced, .probe, .sums: break
            case .notice, .done, .term, .stepDown: break
            }
        }
        for client in touched {
            page.sessions[client] = world.server.sessions.find(client: client).map(
                SessionPrint.init)
            page.highestClient = max(page.highestClient, client)
        }
        // A removed node also removes its claims and promises.
        page.ownership = world.server.tree.copyOwnership()()
        page.tasks = world.server.tree.copyTasks()()
    }
}

extension Chronicle.NodePrint {
    init(_ node: AnyNode) {
        path = "\(node.path)"
        var writer = WireWriter()
        node.encodeReplica(into: &writer)
        state = writer.bytes
        sequence = node.sequence
        birth = node.birthSequence
    }
}

extension Chronicle.SessionPrint {
    init(_ session: Session) {
        secret = session.secret
        ordinal = session.ordinal
        deferred = session.deferred
        runs = session.allRuns
        exceptions = session.allExceptions
    }
}

// MARK: - Comparing
extension Chronicle {
    /// Whether the states at a sequence are known.
    func isKnown(_ sequence: UInt64) -> Bool { !blurred.contains(sequence) }

    /// The state at a path at a sequence of the current history.
    func state(at path: String, _ sequence: UInt64) -> [UInt8]? {
        states[path]?.last { $0.sequence <= sequence }?.state
    }

    /// Compares the recovered state with the server's state after the last surviving row, and
    /// drops the rows that did not survive.
    func compare(_ recovery: Recovery) {
        guard let journal = world.journal else { return }
        while pages.count > 1, let last = pages.last, last.number > journal.lastNumber {
            pages.removeLast()
        }
        (owed, owesAll) = ([], false)
        guard let page = pages.last, page.number == journal.lastNumber, !page.isBlurred else {
            // A power cut may lose more rows than are kept here.
            return forget(recovery, journal)
        }
        comparedCount += 1
        compareNodes(page, recovery)
        compareSessions(page, recovery)
        world.expect(
            recovery.tree.copyOwnership()() == page.ownership,
            "other claims are recovered of row \(page.number): "
                + "\(recovery.tree.copyOwnership()()), not \(page.ownership)")
        world.expect(
            recovery.tree.copyTasks()() == page.tasks,
            "other promises are recovered of row \(page.number): "
                + "\(recovery.tree.copyTasks()()), not \(page.tasks)")
        let ended = Set(recovery.sessions.ended.all.map(\.secret))
        // A snapshot also contains sessions whose actions were all refused by a full disk.
        world.expect(
            ended.isSuperset(of: page.ended),
            "other sessions have ended where row \(page.number) is recovered: \(ended), not "
                + "\(page.ended)")
        world.expect(
            recovery.lastConnection >= page.highestConnection,
            "numbers of connections are given again from \(recovery.lastConnection) on")
        world.expect(
            recovery.sessions.lastNumber >= page.highestClient,
            "numbers of clients are given again from \(recovery.sessions.lastNumber) on")
        cut(to: page.sequence)
    }

    /// Continues from the recovered state if there is no recorded state to compare it with.
    private func forget(_ recovery: Recovery, _ journal: SimulatedJournal) {
        var page = Page(number: journal.lastNumber, sequence: recovery.tree.revision.sequence)
        cut(to: page.sequence)
        recovery.tree.forEachNode { note($0, nil, &page) }
        blurred.remove(page.sequence)
        page.ended = Set(recovery.sessions.ended.all.map(\.secret))
        for session in recovery.sessions.stored {
            page.sessions[session.client] = SessionPrint(session)
        }
        page.ownership = recovery.tree.copyOwnership()()
        page.tasks = recovery.tree.copyTasks()()
        pages = [page]
    }

    private func cut(to sequence: UInt64) {
        blurred = blurred.filter { $0 <= sequence }
        for path in states.keys {
            while let last = states[path]?.last, last.sequence > sequence {
                states[path]?.removeLast()
            }
        }
    }

    private func compareNodes(_ page: Page, _ recovery: Recovery) {
        world.expect(
            page.sequence == recovery.tree.revision.sequence,
            "\(recovery.tree.revision) is recovered, the last row ended with \(page.sequence)")
        var count = 0
        recovery.tree.forEachNode { node in
            count += 1
            let (found, expected) = (NodePrint(node), page.nodes[node.number])
            guard page.number > 0, found != expected else { return }
            world.expect(
                false,
                "node \(node.number) is recovered as \(found.path) at \(found.sequence) from "
                    + "\(found.birth), it was \(expected?.path ?? "nothing") at "
                    + "\(expected?.sequence ?? 0) from \(expected?.birth ?? 0); the states are "
                    + (found.state == expected?.state ? "equal" : "different"))
        }
        world.expect(
            page.number == 0 || count == page.nodes.count,
            "\(count) nodes are recovered of \(page.nodes.count)")
    }

    private func compareSessions(_ page: Page, _ recovery: Recovery) {
        let found = Set(recovery.sessions.stored.map(\.client))
        world.expect(
            found == Set(page.sessions.keys),
            "sessions \(found.sorted()) are recovered of \(page.sessions.keys.sorted())")
        for (client, expected) in page.sessions {
            guard let session = recovery.sessions.find(client: client) else { continue }
            compare(session, expected, client)
        }
    }

    private func compare(_ session: Session, _ expected: SessionPrint, _ client: UInt64) {
        let confirmed = confirmed(expected.secret)
        // A snapshot also contains actions that a full disk refused and whose outcome the client
        // received.
        let ordinals = expected.ordinal...max(expected.ordinal, confirmed)
        world.expect(
            session.secret == expected.secret && ordinals.contains(session.ordinal),
            "session \(client) is recovered up to \(session.ordinal) of \(expected.ordinal)")
        for ordinal in expected.deferred where ordinal > confirmed {
            let outcome = session.outcome(of: ordinal)
            world.expect(
                session.deferred.contains(ordinal) || outcome?.isEnd ?? false,
                "session \(client) owes no answer to \(ordinal): \(String(describing: outcome))")
        }
        for run in expected.runs {
            for index in 0..<run.count {
                let outcome = Outcome.applied(
                    sequence: run.sequence + index, reply: nil, ownerEnded: false)
                compare(session, run.ordinal + index, outcome, confirmed)
            }
        }
        for (ordinal, outcome) in expected.exceptions {
            compare(session, ordinal, outcome, confirmed)
        }
    }

    private func compare(
        _ session: Session, _ ordinal: UInt64, _ expected: Outcome, _ confirmed: UInt64
    ) {
        if ordinal <= confirmed { return }
        // The end of its connection is known without the journal.
        if expected.isEnd, session.deferred.contains(ordinal) { return }
        let found = session.outcome(of: ordinal)
        world.expect(
            found == expected,
            "action \(ordinal) of \(session.client) was \(expected), \(String(describing: found)) is "
                + "recovered")
    }
}

extension Outcome {
    /// Whether this is the outcome of a waiting action whose connection ended.
    fileprivate var isEnd: Bool {
        guard case .rejected(FaultCode.ownerEnded.rawValue, _) = self else { return false }
        return true
    }
}
