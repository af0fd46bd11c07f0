import ReactorBytes
import ReactorThreads
import Testing

@testable import ReactorLoop

@Suite struct EventLoopTests {
    @Test("a turn ends once, after all reads and jobs of the pass, and before the loop waits")
    func turnEndsOnce() throws {
        let loop = try EventLoop()
        defer { loop.close() }
        let (one, other) = try loop.pair()
        let (two, another) = try loop.pair()
        var events: [String] = []
        one.onBytes = { events.append("read \($0[0])") }
        two.onBytes = { events.append("read \($0[0])") }
        one.resumeReading()
        two.resumeReading()
        loop.onTurnEnd = { events.append("end") }
        other.write([ByteSlice([1])])
        another.write([ByteSlice([1])])
        let log = Mailbox<Void> {}
        loop.handle.post { log.post(()) }
        loop.turn(.wait)
        #expect(events == ["read 1", "read 1", "end"])
        #expect(log.drain().count == 1)
    }

    @Test("a turn with jobs announces them once, after its reads")
    func announcesJobs() throws {
        let loop = try EventLoop()
        defer { loop.close() }
        let (one, other) = try loop.pair()
        let log = Mailbox<String> {}
        one.onBytes = { _ in log.post("read") }
        one.resumeReading()
        loop.onJobs = { log.post("jobs") }
        loop.onTurnEnd = { log.post("end") }
        other.write([ByteSlice([1])])
        let handle = loop.handle
        handle.post {
            log.post("first")
            handle.post { log.post("second") }
        }
        loop.turn(.wait)
        other.write([ByteSlice([1])])
        loop.turn(.wait)
        #expect(log.drain() == ["read", "jobs", "first", "second", "end", "read", "end"])
    }

    @Test("outputs written at the end of a turn are sent before the next turn")
    func outputsLeaveAtTurnEnd() throws {
        let loop = try EventLoop()
        defer { loop.close() }
        let (near, far) = Descriptors.pair()
        let connection = try Connection(on: loop, adopting: near)
        var outputs: [ByteSlice] = []
        connection.onBytes = { outputs.append(ByteSlice($0.array)) }
        connection.resumeReading()
        loop.onTurnEnd = {
            connection.write(ByteSlices(outputs))
            outputs.removeAll(keepingCapacity: true)
        }
        Descriptors.write([7, 8], to: far)
        loop.turn(.wait)
        #expect(Descriptors.read(10, from: far) == [7, 8])
        connection.close()
    }

    @Test("a turn without events returns at once when it must not wait, and has no end")
    func emptyTurn() throws {
        let loop = try EventLoop()
        defer { loop.close() }
        var ends = 0
        loop.onTurnEnd = { ends += 1 }
        loop.turn(.noWait)
        #expect(loop.turnCount == 1)
        #expect(ends == 0)
    }

    @Test("stop ends a run from inside, from another thread, and before it began")
    func stops() throws {
        let loop = try EventLoop()
        defer { loop.close() }
        loop.stop()
        loop.run()
        #expect(loop.turnCount == 0)

        let timer = try LoopTimer(on: loop)
        timer.onFire = { loop.stop() }
        timer.start(after: .zero)
        loop.run()

        let handle = loop.handle
        let thread = try WorkThread(name: "stopper") { handle.stop() }
        loop.run()
        thread.join()
    }

    @Test("an idle loop makes no turns, even if it may spin")
    func idleLoopSleeps() throws {
        let loop = try EventLoop(spin: .milliseconds(1))
        defer { loop.close() }
        let (one, other) = try loop.pair()
        one.onBytes = { _ in }
        one.resumeReading()
        other.write([ByteSlice([1])])
        loop.turn(.wait)
        let timer = try LoopTimer(on: loop)
        var count = 0
        timer.onFire = { count += 1 }
        // The first wait follows traffic and may poll for its millisecond, the second may not.
        timer.start(after: .milliseconds(20))
        try loop.turn { count == 1 }
        timer.start(after: .milliseconds(20))
        let before = loop.turnCount
        try loop.turn { count == 2 }
        #expect(loop.turnCount - before <= 10)
    }

    @Test("a loop that may spin polls after traffic, but not on a single processor")
    func spinsOnSeveralProcessors() throws {
        for processors in [1, 2] as [UInt32] {
            let loop = try EventLoop(
                spin: .seconds(10),
                on: ProcessorCount(look: { processors }, lookAtMachine: { Int(processors) }))
            defer { loop.close() }
            let (one, other) = try loop.pair()
            one.onBytes = { _ in }
            one.resumeReading()
            other.write([ByteSlice([1])])
            loop.turn(.wait)
            let timer = try LoopTimer(on: loop)
            timer.start(after: .milliseconds(300))
            let before = loop.turnCount
            loop.turn(.wait)
            let turns = loop.turnCount - before
            #expect(processors == 1 ? turns == 1 : turns >= 2)
        }
    }

    @Test("closing a loop closes all its resources and calls their callbacks")
    func closesEverything() throws {
        let loop = try EventLoop()
        let directory = TemporaryDirectory()
        let listener = try Listener(at: directory.address(), on: loop)
        let (one, other) = try loop.pair()
        let timer = try LoopTimer(on: loop)
        timer.start(after: .seconds(1_000))
        let source = try SignalSource(.user2, on: loop)
        var closed: [String] = []
        listener.onClosed = { closed.append("listener \($0 as Any)") }
        one.onClosed = { closed.append("one \($0 as Any)") }
        other.onClosed = { closed.append("other \($0 as Any)") }
        loop.close()
        #expect(closed.sorted() == ["listener nil", "one nil", "other nil"])
        #expect(timer.isClosed && source.isClosed && listener.isClosed)
        #expect(loop.isClosed)
        loop.close()
    }

    @Test("jobs posted before the close still run, later ones are refused")
    func closeRunsWhatWasPosted() throws {
        let loop = try EventLoop()
        let ran = Mailbox<Int> {}
        #expect(loop.post { ran.post(1) })
        loop.close()
        #expect(!loop.post { ran.post(2) })
        #expect(ran.drain() == [1])
    }

    @Test("no resource can be opened on a closed loop")
    func closedLoopRefuses() throws {
        let loop = try EventLoop()
        loop.close()
        #expect(throws: LoopError.loopIsClosed(subject: "timer")) { try LoopTimer(on: loop) }
        #expect(throws: LoopError.loopIsClosed(subject: "/tmp/s")) {
            try Connection.connect(to: UnixAddress("/tmp/s"), on: loop)
        }
        #expect(throws: LoopError.loopIsClosed(subject: "/tmp/s")) {
            try Listener(at: UnixAddress("/tmp/s"), on: loop)
        }
    }

    @Test("a loop that is released closes itself and frees its descriptors")
    func releaseCloses() async {
        await #expect(processExitsWith: .success) {
            // The first loop of a process opens libuv's own signal pipe permanently.
            _ = try EventLoop()
            let baseline = Directory.openDescriptorCount
            for _ in 0..<100 { _ = try EventLoop() }
            #expect(Directory.openDescriptorCount < baseline + 100)
        }
    }

    @Test("turning a loop from inside its own turn traps")
    func nestedTurnTraps() async {
        await #expect(processExitsWith: .failure) {
            let loop = try EventLoop()
            let timer = try LoopTimer(on: loop)
            timer.onFire = { loop.turn(.noWait) }
            timer.start(after: .zero)
            loop.turn(.wait)
        }
    }

    @Test("durations become whole nanoseconds within bounds")
    func durations() {
        #expect(Duration.microseconds(50).nanoseconds == 50_000)
        #expect(Duration.zero.nanoseconds == 0)
        #expect(Duration.seconds(-1).nanoseconds == 0)
        #expect(Duration.seconds(Int64.max).nanoseconds == .max)
    }
}
