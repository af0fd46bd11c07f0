/// A node's part in its cluster: it follows the log, takes over, appends while it leads, and stops
/// where its history and the log's differ.
///
/// *Place*: between a ``LogEngine``, whose events it gets and whose calls it makes, and the daemon,
/// which applies the rows and hands in its own. *Owner*: the loop's thread. The machine has no
/// clock: each call says the time, in nanoseconds that only grow.
///
/// *Shape*: after each call, the shell carries out all outputs in their order before the next call,
/// and calls ``tick(at:)`` at ``due``, or later.
package final class ClusterMachine {
    private let settings: ClusterSettings
    private var outputs: [ClusterOutput] = []
    private var calls = CallLedger()
    private var cursor: RowCursor
    private let check: (LogRow, UInt64) -> Bool
    private var feed = WatchFeed()
    private var silence: LeaderSilence
    private var candidacy: Candidacy?
    private var leadership: Leadership?
    /// The nodes, as they last reported.
    package private(set) var book: NodeBook
    private var trimmer: LogTrimmer
    private var view = EngineView()
    private var freshness = Freshness()
    private var report: NodeReport
    private var halt: Halt?

    /// Why the machine neither follows nor leads.
    private enum Halt { case snapshot, fault }

    /// Creates a node that has the history up to `position`.
    ///
    /// `report` is the node's first report; the machine fills in the fields that it tracks itself.
    /// `seed` determines the random delays, and must differ between the nodes. `check` tells
    /// whether a row's bytes and the checksum of the row before lead to the row's checksum.
    package init(
        _ settings: ClusterSettings, at position: AppliedPosition, report: NodeReport,
        seed: UInt64, check: @escaping (_ row: LogRow, _ behind: UInt64) -> Bool
    ) {
        self.settings = settings
        self.check = check
        self.report = report
        cursor = RowCursor(at: position, check: check)
        silence = LeaderSilence(settings, seed: seed)
        book = NodeBook(settings)
        trimmer = LogTrimmer(settings, after: position.entry)
        self.report.node = settings.node
        self.report.incarnation = 0
    }

    // MARK: For the shell

    /// Removes and returns the outputs, in their order.
    package func takeOutputs() -> [ClusterOutput] {
        defer { outputs.removeAll(keepingCapacity: true) }
        return outputs
    }

    /// The node's current role.
    package var role: ClusterRole {
        switch halt {
        case .fault: return .stopped
        case .snapshot: return .awaitingSnapshot
        case nil: break
        }
        guard let leadership else { return candidacy == nil ? .following : .candidate }
        if leadership.stepDown != nil { return .steppingDown(term: leadership.term) }
        return leadership.isSuspended
            ? .suspended(term: leadership.term) : .leading(term: leadership.term)
    }

    /// The last row that is in the log as far as this node knows, with its entry.
    package var position: AppliedPosition { cursor.position }

    /// When this node asked the engine for the state that it has at least; nil before the first
    /// answer that tells. On the leader, when its last confirmed call was sent.
    package var currentAsOf: UInt64? { freshness.asOf }

    /// The same, but only as a majority of the engine's members confirmed it: no older state passes.
    package var confirmedAsOf: UInt64? { freshness.confirmedAsOf }

    /// The process: the version of its first report, as the engine counted it; 0 before.
    package var incarnation: UInt64 { report.incarnation }

    /// The engine's revision at which the latest leadership began or ended; 0 before the first.
    package var term: UInt64 { view.term }

    /// Why the engine does not answer; nil if it does.
    package var outage: EngineOutage? { view.outage }

    /// Whether this node leads, and another one may lead as well: effects must not run.
    package var isSuspended: Bool { leadership?.isSuspended ?? false }

    /// Whether the leader key has a claim of an earlier process of this node, or a claim that this
    /// process gave up: an append may still be on its way.
    package var isLedByFormerProcess: Bool {
        view.isLedByFormerProcess(of: settings.node, report.incarnation)
    }

    /// The node that leads, as far as this node knows.
    package var leader: ClusterNode? { view.leader?.claim?.node }

    /// Number of entries that the log had at the last look and this node has not read.
    package var missingEntryCount: UInt64 { view.head - min(cursor.read.number, view.head) }

    /// Bytes that the engine got, as this process saw them, and that it did not compact.
    package var uncompactedByteCount: Int { trimmer.uncompactedByteCount }

    /// When ``tick(at:)`` is due; nil if only an event can change anything.
    package var due: UInt64? {
        guard halt != .fault else { return nil }
        guard halt == nil else { return calls.readyTime(of: [.announce]) }
        guard let leadership else {
            return calls.readyTime(of: [.announce, candidacy == nil ? .look : .takeOver])
        }
        let next = calls.readyTime(of: [.announce, .look, leadership.nextChange])
        return min(next ?? .max, leadership.expiry)
    }

    /// Time has passed.
    package func tick(at now: UInt64) {
        expire(at: now)
        advance(at: now)
    }

    /// Appends rows of the leader, in order. They are dropped if the node does not lead or steps down;
    /// a `deposed` is then among the outputs. *Traps*: if their numbers do not follow the last ones.
    package func append(_ rows: [LogRow], at now: UInt64) {
        expire(at: now)
        if leadership?.accept(rows) ?? false { advance(at: now) }
    }

    /// Hands the leadership to a node, or to any node, once the log has all rows. Does nothing on a
    /// node that does not lead.
    package func stepDown(to successor: ClusterNode?, at now: UInt64) {
        expire(at: now)
        leadership?.give(to: successor)
        advance(at: now)
    }

    /// Reads no entries while `isHeld` is true, and does not take over.
    package func hold(_ isHeld: Bool, at now: UInt64) {
        if feed.hold(isHeld) { outputs.append(.call(.unwatch)) }
        advance(at: now)
    }

    /// Calls the engine soon, so that ``confirmedAsOf`` becomes `time` or a later one.
    package func refresh(asOf time: UInt64, at now: UInt64) {
        expire(at: now)
        freshness.want(asOf: time)
        advance(at: now)
    }

    /// Changes the next report of this node.
    package func update(_ changed: NodeReport) {
        let incarnation = report.incarnation
        report = changed
        (report.node, report.incarnation) = (settings.node, incarnation)
    }

    /// A snapshot was installed: the node follows from there on.
    package func restart(from position: AppliedPosition, at now: UInt64) {
        guard halt == .snapshot else { return }
        (halt, cursor) = (nil, RowCursor(at: position, check: check))
        feed.close()
        advance(at: now)
    }

    // MARK: For the engine

    /// The engine reports something.
    package func receive(_ event: EngineEvent, at now: UInt64) {
        expire(at: now)
        switch event {
        case .up: calls.open()
        case .down:
            calls.close()
            feed.close()
            silence.interrupt()
        case .unknown(let kind, let outage): miss(kind, outage, at: now)
        case .entries(let entries): take(entries, at: now)
        case .leader(let term, let record): learn(term, record, at: now)
        case .compacted: if feed.isOpen { fallBehind() }
        case .watchEnded: feed.close()
        case .damaged(let error): stop(.damaged(error))
        default: receive(answer: event, at: now)
        }
        advance(at: now)
    }

    private func receive(answer event: EngineEvent, at now: UInt64) {
        guard let kind = event.answered, calls.finish(kind) else { return }
        if view.outage.take() != nil { outputs.append(.outage(nil)) }
        switch event {
        case .announced(let version):
            if report.incarnation == 0 { report.incarnation = version }
        case .sighting(let sighting): see(sighting, at: now)
        case .appended(let position): keep(at: position, at: now)
        case .beaten: confirm(sentAt: view.beatSentAt, at: now)
        case .refused(let kind, let refusal): refuse(kind, refusal, at: now)
        case .won(let term, let head): win(term: term, head: head, at: now)
        case .lost(let sighting): lose(sighting, at: now)
        case .vacated(let term):
            learn(term, .vacant(successor: leadership?.stepDown?.successor), at: now)
        case .trimmed: trimmer.finish(true)
        default: break
        }
    }
}

// MARK: - Calls
extension ClusterMachine {
    private func send(_ call: EngineCall, nextAt earliest: UInt64) {
        calls.begin(call.kind, nextAt: earliest)
        outputs.append(.call(call))
    }

    /// Makes all calls that are due.
    private func advance(at now: UInt64) {
        guard halt != .fault, calls.isUp else { return }
        if calls.isReady(.announce, at: now) {
            report.applied = cursor.position.row.number
            send(.announce(report), nextAt: now + settings.reportInterval)
        }
        guard halt == nil else { return }
        hurry(at: now)
        if leadership != nil {
            lead(at: now)
        } else {
            if feed.mustOpen {
                feed.open()
                outputs.append(.call(.watch(after: cursor.read)))
            }
            let retryAt = now + settings.retryInterval
            // A claim of its earlier process, which it does not take over itself.
            if isLedByFormerProcess, !settings.isCandidate, report.incarnation > 0,
                calls.isReady(.vacate, at: now)
            {
                send(.vacate(term: view.term, successor: nil), nextAt: retryAt)
            }
            if let candidacy, calls.isReady(.takeOver, at: now) {
                send(.takeOver(seen: candidacy.seen, record: candidacy.record), nextAt: retryAt)
            }
        }
        if candidacy == nil, calls.isReady(.look, at: now) {
            let interval = settings.lookInterval(isLeading: leadership != nil)
            let confirms = leadership == nil && freshness.unmetWish() != nil
            freshness.ask(at: now, read: cursor.read.number, confirms: confirms)
            send(confirms ? .confirm : .look, nextAt: now + interval)
        }
    }

    /// Plans the call that confirms the state, if that is wanted.
    private func hurry(at now: UInt64) {
        guard let leadership else {
            return calls.plan(.look, noLaterThan: freshness.wishedLook(at: now) ?? .max)
        }
        let sentAt = max(view.beatSentAt, leadership.queue.flight?.sentAt ?? 0)
        calls.plan(.beat, noLaterThan: freshness.wishedBeat(after: sentAt, at: now) ?? .max)
    }

    private func lead(at now: UInt64) {
        guard var current = leadership else { return }
        // The queue is changed in place.
        leadership = nil
        defer { leadership = current }
        let isAppendReady = calls.isReady(.append, at: now)
        if isAppendReady,
            let flight = current.queue.flight
                ?? current.queue.nextFlight(expected: cursor.read.number, at: now)
        {
            send(
                .append(entry: flight.bytes, expected: flight.expected, term: current.term),
                nextAt: now)
            calls.plan(.beat, at: now + settings.beatInterval)
        }
        guard current.queue.flight == nil else { return }
        if let stepDown = current.stepDown, current.queue.isEmpty {
            guard calls.isReady(.vacate, at: now) else { return }
            if current.retire() { outputs.append(.suspended) }
            send(
                .vacate(term: current.term, successor: stepDown.successor),
                nextAt: now + settings.retryInterval)
        } else if calls.isReady(.beat, at: now) {
            view.beatSentAt = now
            send(.beat(term: current.term), nextAt: now + settings.beatInterval)
        }
    }

    /// A call got no answer.
    private func miss(_ kind: EngineCallKind, _ outage: EngineOutage, at now: UInt64) {
        if view.outage != outage {
            view.outage = outage
            outputs.append(.outage(outage))
        }
        let isWanted = calls.finish(kind)
        switch kind {
        case .look: silence.interrupt()
        case .compact: trimmer.finish(false)
        // Whether the engine applied it is not known: the same is sent again.
        case .append, .takeOver, .vacate, .beat, .announce:
            if isWanted { calls.plan(kind, at: now + settings.retryInterval) }
        case .watch: break
        }
    }

    private func stop(_ fault: ClusterFault) {
        guard halt != .fault else { return }
        (halt, leadership, candidacy) = (.fault, nil, nil)
        outputs.append(.stop(fault))
    }
}

// MARK: - Following
extension ClusterMachine {
    private func take(_ entries: [StoredEntry], at now: UInt64) {
        guard leadership == nil, halt == nil, !feed.isHeld else { return }
        for entry in entries {
            do throws(LogFork) {
                switch try cursor.take(entry) {
                case .repeated: break
                case .gap:
                    if feed.mustReopenAtGap() { feed.close() }
                    return
                case .advanced(let rows):
                    feed.advance()
                    freshness.read(upTo: entry.position.number)
                    trimmer.add(entry.position, byteCount: entry.bytes.count)
                    if !rows.isEmpty { outputs.append(.apply(rows, cursor.position)) }
                }
            } catch { return stop(.forked(error)) }
        }
    }

    private func fallBehind() {
        guard leadership == nil, halt == nil else { return }
        (halt, candidacy) = (.snapshot, nil)
        calls.abandon(.takeOver)
        outputs.append(.needsSnapshot(after: cursor.position))
    }

    /// The leader key has this value in the revision `term`.
    private func learn(_ term: UInt64, _ record: LeaderRecord?, at now: UInt64) {
        guard term > view.term else { return }
        let former = view.leader?.claim?.node
        let wasLedByFormerProcess = isLedByFormerProcess
        (view.term, view.leader) = (term, record)
        // The last look may have missed an append of that process.
        if wasLedByFormerProcess { freshness.forget() }
        if record?.claim?.node != former { outputs.append(.leader(record?.claim?.node)) }
        // A vacant leadership is taken over at the next look.
        if record?.claim == nil { calls.plan(.look, at: now) }
        if term > leadership?.term ?? .max { depose(at: now) }
    }

    private func see(_ sighting: LeaderSighting, at now: UInt64) {
        book.observe(sighting.nodes, at: now)
        view.head = sighting.head.number
        learn(sighting.term, sighting.leader, at: now)
        guard leadership == nil else { return trim(at: now, sighting.beat) }
        // An older state than the known one says nothing.
        if sighting.term >= view.term {
            freshness.see(head: sighting.head.number, read: cursor.read.number)
        }
        silence.see(sighting, at: now)
        if feed.poll(head: view.head, read: cursor.read.number, at: now) { feed.close() }
        guard settings.isCandidate, !feed.isHeld, report.incarnation > 0,
            cursor.read == sighting.head,
            view.isVacant(sighting, for: settings.node, at: now) || silence.isOver
        else { return }
        silence.interrupt()
        view.attempts += 1
        candidacy = Candidacy(
            seen: sighting,
            record: .held(
                LeaderClaim(
                    node: settings.node, incarnation: report.incarnation,
                    attempt: view.attempts)),
            sentAt: now)
    }

    private func win(term: UInt64, head: LogPosition, at now: UInt64) {
        guard let won = candidacy else { return }
        candidacy = nil
        // The answer is late, and the watch has shown another leader, or its entries.
        guard term >= view.term, head.number >= cursor.read.number else { return }
        guard head == cursor.read else {
            return stop(
                .contradiction(
                    "term \(term) begins after entry \(head.number) at revision "
                        + "\(head.revision), expected entry \(cursor.read.number) at revision "
                        + "\(cursor.read.revision)"))
        }
        (view.term, view.leader) = (term, won.record)
        leadership = Leadership(
            term: term, behind: cursor.position.row, sentAt: won.sentAt,
            tenure: settings.tenure, patience: settings.patience)
        freshness.confirm(sentAt: won.sentAt)
        feed.close()
        calls.plan(.beat, at: won.sentAt + settings.beatInterval)
        book.forgive(at: now)
        outputs += [
            .call(.unwatch), .promoted(term: term, after: cursor.position.row),
            .leader(settings.node),
        ]
        expire(at: now)
    }

    private func lose(_ sighting: LeaderSighting, at now: UInt64) {
        guard let lost = candidacy else { return }
        // The take-over was applied before, and its answer was lost.
        if sighting.leader == lost.record {
            return win(term: sighting.term, head: sighting.head, at: now)
        }
        candidacy = nil
        see(sighting, at: now)
    }
}

// MARK: - Leading
extension ClusterMachine {
    /// The log has the entry in flight.
    private func keep(at position: LogPosition, at now: UInt64) {
        guard let flight = leadership?.queue.flight else { return }
        let next = flight.expected + 1
        guard position.number == next else {
            return stop(.contradiction("it appended entry \(position.number), expected \(next)"))
        }
        leadership?.queue.confirm()
        trimmer.add(position, byteCount: flight.bytes.count)
        do throws(LogFork) {
            let step = try cursor.take(StoredEntry(position: position, bytes: flight.bytes))
            if case .advanced(let rows) = step, !rows.isEmpty {
                outputs.append(.appended(cursor.position))
            }
        } catch { return stop(.forked(error)) }
        confirm(sentAt: flight.sentAt, at: now)
    }

    private func refuse(_ kind: EngineCallKind, _ refusal: LogRefusal, at now: UInt64) {
        guard let current = leadership else {
            return learn(refusal.term, refusal.leader, at: now)
        }
        if refusal.term > current.term {
            learn(refusal.term, refusal.leader, at: now)
            return depose(at: now)
        }
        // The entry was kept before, and its answer was lost.
        if kind == .append, refusal.term == current.term, let flight = current.queue.flight,
            let last = refusal.last, last.position.number == flight.expected + 1,
            last.bytes == flight.bytes
        {
            return keep(at: last.position, at: now)
        }
        stop(
            .contradiction(
                "it refused \(kind.rawValue) of term \(current.term) in term \(refusal.term) "
                    + "after entry \(refusal.last?.position.number ?? 0)"))
    }

    private func confirm(sentAt: UInt64, at now: UInt64) {
        freshness.confirm(sentAt: sentAt)
        if leadership?.confirm(sentAt: sentAt, at: now) == true { outputs.append(.resumed) }
    }

    /// Stops acting as the leader if no confirmation came for too long, and at last gives up.
    private func expire(at now: UInt64) {
        for expiry in leadership?.expire(at: now) ?? [] {
            guard expiry == .end else {
                outputs.append(.suspended)
                continue
            }
            // An append may still be on its way, as after the end of the process.
            view.abandonedTerm = leadership?.term
            freshness.forget()
            depose(at: now)
        }
    }

    /// Another node leads, or none.
    private func depose(at now: UInt64) {
        guard let former = leadership else { return }
        leadership = nil
        // Another node is to lead. If none does, this one may, as after a silence.
        if former.stepDown != nil { view.yieldsUntil = now + settings.takeover }
        for kind in [.append, .beat, .vacate] as [EngineCallKind] { calls.abandon(kind) }
        silence.interrupt()
        let end = cursor.position.row
        outputs.append(.deposed(term: former.term, leader: view.leader, after: end))
    }

    private func trim(at now: UInt64, _ revision: UInt64) {
        if trimmer.needsEntry(at: revision) { outputs.append(.needsRow) }
        guard calls.isReady(.compact, at: now),
            let target = trimmer.nextTarget(durable: book.durable)
        else { return }
        send(.compact(upTo: target), nextAt: now)
    }
}
