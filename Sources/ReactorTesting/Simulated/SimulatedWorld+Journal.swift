import ReactorBytes
package import ReactorCore
package import ReactorServer

// MARK: - A world with a history
extension SimulatedWorld {
    /// Starts a server of `tree` whose history is stored in `journal`, which must be empty. The
    /// tree's effects run in `effects`.
    package convenience init(
        seed: UInt64, _ tree: Tree, in journal: SimulatedJournal, limits: ServerLimits,
        effects: ManualWorld? = nil, isCalm: Bool = false, weather: SimulatedWeather,
        faults: (any SimulatedFaults)? = nil, onRecovered: ((Recovery) -> Void)? = nil
    ) {
        let secrets = SecretSource(seed: ~seed)
        let server = Self.serve(
            Recovery(of: tree, limits: limits), (journal.epoch, 0), secrets,
            onRecovered: onRecovered)
        guard let server else { preconditionFailure("a tree without a past cannot be recovered") }
        self.init(
            seed: seed, server, secrets, effects: effects, isCalm: isCalm, weather: weather,
            faults: faults, journal: journal)
        dueTurn()
    }

    private static func serve(
        _ recovery: Recovery, _ end: (epoch: UInt64, sequence: UInt64), _ secrets: SecretSource,
        isReadOnly: Bool = false, onRecovered: ((Recovery) -> Void)?
    ) -> Server? {
        guard let recovery = try? recovery.finish(epoch: end.epoch, sequence: end.sequence) else {
            return nil
        }
        onRecovered?(recovery)
        return Server(recovery, isReadOnly: isReadOnly, daemonName: "simulated") { secrets.next() }
    }

    /// Simulates a crash of the server, and starts a new server of `tree` from the journal.
    ///
    /// With `isPowerCut`, the journal does not wait for the disk: rows whose commit was reported
    /// may be lost too, and the history then continues under a new epoch. Returns false if
    /// recovery fails, which is a violation; the world cannot continue then.
    @discardableResult
    package func crash(isPowerCut: Bool = false, _ tree: Tree) -> Bool {
        guard let journal else { preconditionFailure("a world without a journal cannot go on") }
        loseLinks()
        let hasLostReported = journal.crash(isPowerCut: isPowerCut)
        if hasLostReported { journal.begin(newEpoch()) }
        return goOn(with: Recovery(of: tree, limits: server.limits), isReadOnly: false)
    }

    /// Starts a server of `tree` after the history was lost.
    func restartJournal(_ tree: Tree) {
        journal?.erase(before: tree.revision.epoch)
        _ = goOn(with: Recovery(of: tree, limits: server.limits), isReadOnly: false)
    }

    /// Simulates a full disk for `nanoseconds`: the journal refuses what is not committed, all
    /// connections are closed, and a server of `tree` serves the committed state without
    /// accepting changes.
    @discardableResult
    package func fillDisk(for nanoseconds: UInt64, _ tree: Tree) -> Bool {
        guard let journal else { preconditionFailure("a world without a journal has no disk") }
        countFullDisk()
        journal.refuse()
        if journal.faults?.ignoresRefusals ?? false { return true }
        loseLinks()
        _ = server.tree.dismissEffects()
        let recovery = Recovery(of: tree, limits: server.limits)
        recovery.succeed(server.tree)
        guard goOn(with: recovery, isReadOnly: true) else { return false }
        let start = counts.restarts
        timeline.after(nanoseconds) { [unowned self] in
            guard start == counts.restarts else { return }
            server.goOn()
            dueTurn()
        }
        return true
    }

    private func goOn(with recovery: Recovery, isReadOnly: Bool) -> Bool {
        guard let journal else { return false }
        do throws(RecoveryError) {
            try journal.recover(recovery)
        } catch {
            expect(false, "nothing can be recovered: \(error)")
            journal.end()
            return false
        }
        let next = Self.serve(
            recovery, (journal.epoch, journal.sequence), secrets, isReadOnly: isReadOnly
        ) { [unowned self] recovery in hooks.onRecovered?(recovery) }
        guard let next else {
            expect(false, "the recovered state is incomplete")
            journal.end()
            return false
        }
        goOn(with: next)
        dueTurn()
        return true
    }

    /// Answers a query for missed updates from the journal, if there is one, after a delay.
    func answer(_ question: HistoryQuestion) {
        guard let journal else {
            return server.answer(question.number, with: nil, at: timeline.now)
        }
        let start = counts.restarts
        timeline.after(chance.delay()) { [unowned self] in
            guard start == counts.restarts else { return }
            server.answer(question.number, with: journal.missed(question), at: timeline.now)
            noteServer()
        }
    }

    /// Appends a batch to the journal, which commits it at `due` and reports the commit later.
    func append(_ batch: Batch, to journal: SimulatedJournal, at due: UInt64) {
        let number = journal.hand(batch)
        hooks.onBatch?(batch)
        let start = counts.restarts
        let isEarly = journal.faults?.reportsEarly ?? false
        timeline.after(due - timeline.now) { [unowned self] in
            guard start == counts.restarts else { return }
            journal.commit(number)
        }
        let reportDue = appends.report(behind: due, after: chance.reportDelay())
        timeline.after(isEarly ? 0 : reportDue - timeline.now) { [unowned self] in
            guard start == counts.restarts else { return }
            server.appended(batch.turn, at: timeline.now)
            noteServer()
        }
    }
}
