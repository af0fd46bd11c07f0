import CLibUV
import Glibc
import ReactorThreads

/// How a turn behaves when nothing is there to do.
public enum TurnMode: Sendable {
    /// Waits, without using the processor, until something happens.
    case wait
    /// Returns at once.
    case noWait
}

extension EventLoop {
    /// Turns the loop until ``stop()`` or ``LoopHandle/stop()``.
    ///
    /// A stop that came earlier, when nothing ran, ends it before the first turn; each stop ends
    /// one run.
    public func run() {
        while !doorbell.stopRequest.take() {
            turn(.wait)
        }
    }

    /// Ends ``run()`` after this turn. *Owner*: the loop's thread; others use the handle's.
    public func stop() {
        handle.stop()
    }

    /// Makes one turn: timers, I/O callbacks, posted jobs, then ``onTurnEnd``.
    ///
    /// *Place*: for a client that steps its loop instead of giving it a thread.
    /// *Traps*: inside a turn, and on a closed loop. *C*: `uv_run`.
    public func turn(_ mode: TurnMode) {
        precondition(!isTurning, "a loop cannot be turned from inside its own turn")
        precondition(!isClosed, "a closed loop cannot be turned")
        isTurning = true
        doorbell.turning.enter()
        runEndings()
        if isTurnAsked {
            // because whoever was just written to may have the next request ready
            sched_yield()
            pass(UV_RUN_NOWAIT)
        } else if mode == .noWait || doorbell.isRung {
            pass(UV_RUN_NOWAIT)
        } else if !turnForExpected(), !poll() {
            pass(UV_RUN_ONCE)
        }
        doorbell.turning.leave()
        isTurning = false
    }

    /// Has the next turn look at what has arrived without waiting, and end like any other even where
    /// nothing has.
    ///
    /// *Place*: for who has more to do than one turn's worth, and does not want to keep others
    /// waiting meanwhile.
    public func turnAgain() { isTurnAsked = true }

    /// Polls while traffic is likely to come soon; answers whether anything did.
    private func poll() -> Bool {
        guard let deadline = spin.deadline else { return false }
        var now = uv_hrtime()
        guard now < deadline else { return false }
        let share = processors.share(at: now)
        guard share != .theOnly else { return false }
        repeat {
            if turnForExpected() || pass(UV_RUN_NOWAIT) { return true }
            let before = uv_hrtime()
            // because the peer we wait for may be waiting for this very processor
            sched_yield()
            now = uv_hrtime()
            spin.noteYield(taking: now &- before, at: now, onlyProcessor: share == .oneOfSeveral)
        } while now < min(deadline, spin.deadline ?? 0)
        return false
    }

    /// Makes one pass of libuv's loop; answers whether anything happened.
    @discardableResult
    private func pass(_ mode: uv_run_mode) -> Bool {
        beginPass()
        expectedReads = 0
        unsafe uv_run(raw, mode)
        return endPass()
    }

    func beginPass() {
        turnCount &+= 1
        isActive = isTurnAsked
        isTurnAsked = false
        hasTraffic = false
    }

    /// Runs what follows the callbacks of a pass; answers whether anything happened.
    @discardableResult
    func endPass() -> Bool {
        // because a turn's jobs run once, after its I/O: a job that posts waits for the next turn
        if doorbell.isRung { runJobs() }
        guard isActive else { return false }
        if hasTraffic, spin.limit > 0 { spin.noteTraffic(at: uv_hrtime()) }
        onTurnEnd?()
        runEndings()
        return true
    }

    /// Runs what was posted so far.
    func runJobs() {
        doorbell.drain(into: &jobs)
        guard !jobs.isEmpty else { return }
        noteTraffic()
        let executor = handle.executor
        for job in jobs {
            switch job {
            case .call(let body): body()
            case .swift(let job): executor.run(job)
            }
        }
        jobs.removeAll(keepingCapacity: true)
    }
}
