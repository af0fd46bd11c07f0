import Dispatch
import Observation
import ReactorCore
import StockReactors
import Testing

@testable import ReactorClient

@Suite("Mirror", .timeLimit(.minutes(10)))
struct MirrorTests {
    private typealias Counter = StockReactors.Counter

    @Test("a mirror shows the state, and shows an action's result when its outcome arrives")
    func dispatch() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let visits = try await client.mirror(Counter.self, at: "/visits")
        #expect(visits.isCurrent && visits.state == Counter.State(count: 0))
        let outcome = await visits.dispatch(.increment(by: 5))
        #expect(outcome == .applied(Revision(epoch: 7, sequence: 1), reply: nil))
        #expect(visits.count == 5 && visits.state.count == 5)
        #expect(visits.revision == Revision(epoch: 7, sequence: 1))
        client.close()
    }

    @Test("a condition that holds admits the action, and one that does not rejects it")
    func conditions() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let visits = try await client.mirror(Counter.self, at: "/visits")
        let before = visits.revision
        #expect(await visits.dispatch(.increment(by: 1), if: before).revision != nil)
        guard case .rejected(let rejection) = await visits.dispatch(.reset, if: before) else {
            Issue.record("a stale condition held")
            return
        }
        #expect(rejection.code == "CONFLICT" && visits.count == 1)
        #expect(await visits.dispatch(.reset, if: visits.revision).revision?.sequence == 2)
        guard case .rejected(let late) = await visits.dispatch(.reset, DispatchOptions(deadline: 0))
        else {
            Issue.record("a deadline that had passed was met")
            return
        }
        #expect(late.code == "DEADLINE")
        client.close()
    }

    @Test("send waits for nothing, and returns false without room")
    func send() async throws {
        let server = try LiveServer()
        var options = ClientOptions()
        options.queueBytesMax = 1_000
        let client = try await Client.connect(to: server.path, options: options)
        let visits = try await client.mirror(Counter.self, at: "/visits")
        await server.hold()
        var count: Int64 = 0
        while visits.send(.increment(by: 1)) { count += 1 }
        #expect(count > 10 && count < 100)
        await server.release()
        try await client.drain()
        #expect(visits.count == count)
        #expect(visits.send(.increment(by: 1)))
        client.close()
        #expect(!visits.send(.increment(by: 1)))
    }

    @Test("a reply is decoded as the reactor's type, even if it comes later")
    func replies() async throws {
        let server = try LiveServer(StockReactors.Lock())
        let first = try await Client.connect(to: server.path)
        let second = try await Client.connect(to: server.path)
        let held = try await first.mirror(StockReactors.Lock.self, at: "/")
        let waited = try await second.mirror(StockReactors.Lock.self, at: "/")
        guard case .applied(_, let reply?) = await held.dispatch(.acquire(wait: false)) else {
            Issue.record("a free lock was not granted")
            return
        }
        let answer = Task { await waited.dispatch(.acquire(wait: true)) }
        await held.until { $0.waiters.count == 1 }
        #expect(await held.dispatch(.release(token: reply.token)).revision != nil)
        guard case .applied(let revision, let later?) = await answer.value else {
            Issue.record("the lock was not passed on")
            return
        }
        #expect(later.token > reply.token)
        #expect(waited.revision.sequence >= revision.sequence)
        #expect(waited.holder?.token == later.token)
        first.close()
        second.close()
    }
}

// MARK: - reached
extension MirrorTests {
    @Test("a mirror reaches a revision that another client received for another node")
    func reachedElsewhere() async throws {
        let server = try LiveServer()
        let reader = try await Client.connect(to: server.path)
        let writer = try await Client.connect(to: server.path)
        let visits = try await reader.mirror(Counter.self, at: "/visits")
        let outcome = try await writer.dispatch("/other", Counter.Action.increment(by: 1))
        let revision = try #require(outcome.revision)
        try await visits.reached(revision)
        #expect(visits.revision == revision)
        reader.close()
        writer.close()
    }

    @Test("reached waits until the state includes the revision")
    func reachedLater() async throws {
        let server = try LiveServer()
        let reader = try await Client.connect(to: server.path)
        let writer = try await Client.connect(to: server.path)
        let shown = try await reader.mirror(Counter.self, at: "/visits")
        let written = try await writer.mirror(Counter.self, at: "/visits")
        await server.hold()
        #expect(written.send(.increment(by: 3)))
        let count = Task {
            try await shown.reached(Revision(epoch: 7, sequence: 1))
            return shown.count
        }
        await server.until { $0.actionCount == 1 }
        #expect(shown.count == 0)
        await server.release()
        #expect(try await count.value == 3)
        reader.close()
        writer.close()
    }

    @Test("a revision of another history is never reached, and throws")
    func reachedOtherHistory() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let visits = try await client.mirror(Counter.self, at: "/visits")
        let foreign = Revision(epoch: 8, sequence: 0)
        let error = await #expect(throws: ClientError.self) { try await visits.reached(foreign) }
        #expect(
            error == .otherHistory(expected: foreign, actual: Revision(epoch: 7, sequence: 0)))
        client.close()
    }

    @Test("a mirror waits for a revision of a daemon that this client has not met yet")
    func reachedNextHistory() async throws {
        let first = try LiveServer()
        let client = try await Client.connect(to: first.path, options: .brisk)
        let visits = try await client.mirror(Counter.self, at: "/visits")
        let door = DispatchSemaphore(value: 0)
        #expect(client.port.post { _ in door.wait() })
        first.stop()
        let second = try LiveServer(in: first.folder, epoch: 8)
        let revision = Revision(epoch: 8, sequence: 0)
        let results = Notes<String>()
        Task {
            do {
                try await visits.reached(revision)
                results.add("\(visits.revision)")
            } catch {
                results.add("\(error)")
            }
        }
        for _ in 0..<200 { await Task.yield() }
        door.signal()
        #expect(await results.until(1) == ["\(revision)"])
        client.close()
        second.stop()
    }

    @Test("a wait for a revision throws when the task is cancelled or the client ends")
    func reachedNever() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let visits = try await client.mirror(Counter.self, at: "/visits")
        let future = Revision(epoch: 7, sequence: 99)
        let cancelled = Task { try await visits.reached(future) }
        cancelled.cancel()
        await #expect(throws: ClientError.cancelled) { try await cancelled.value }
        let ended = Task { try await visits.reached(future) }
        client.close()
        await #expect(throws: ClientError.ended) { try await ended.value }
    }

    @Test("a wait that spans a reconnect returns once the mirror is current again")
    func reachedThroughReconnect() throws {
        let rig = Rig()
        let client = rig.client()
        let visits = try client.mirror("/visits", rig)
        rig.cut(client)
        #expect(visits.phase == .connecting)
        // The waiting task checks again only when the signal `moved` is published.
        let versions = Notes<UInt64>()
        withObservationTracking {
            _ = visits.phase
        } onChange: {
            versions.add(visits.shared.moved.version)
        }
        rig.run()
        #expect(visits.phase == .live)
        #expect(visits.shared.moved.version > (versions.all.last ?? .max))
    }
}

// MARK: - Observation
extension MirrorTests {
    @Test("an observer of the state, the revision or the phase is woken by a change")
    func observation() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let visits = try await client.mirror(Counter.self, at: "/visits")
        let changes = Notes<String>()
        withObservationTracking {
            _ = visits.count
        } onChange: {
            changes.add("state")
        }
        withObservationTracking {
            _ = visits.revision
        } onChange: {
            changes.add("revision")
        }
        #expect(await visits.dispatch(.increment(by: 1)).revision != nil)
        #expect(Set(await changes.until(2)) == ["state", "revision"])
        withObservationTracking {
            _ = visits.phase
        } onChange: {
            changes.add("phase")
        }
        client.close()
        #expect(await changes.until(3).last == "phase")
        #expect(visits.phase == .failed(.ended) && visits.count == 1)
    }

    @Test("C92: an observer may read and send from its callback")
    func reentrantObserver() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let visits = try await client.mirror(Counter.self, at: "/visits")
        let seen = Notes<Int64>()
        withObservationTracking {
            _ = visits.state
        } onChange: {
            seen.add(visits.count)
            visits.send(.increment(by: 10))
        }
        #expect(await visits.dispatch(.increment(by: 1)).revision != nil)
        await visits.until { $0.count == 11 }
        #expect(seen.all == [1])
        client.close()
    }

    @Test("C92: an observer that blocks stops its own client and no other")
    func blockingObserver() async throws {
        let server = try LiveServer()
        let blocked = try await Client.connect(to: server.path)
        let other = try await Client.connect(to: server.path)
        let slow = try await blocked.mirror(Counter.self, at: "/visits")
        let quick = try await other.mirror(Counter.self, at: "/visits")
        let door = DispatchSemaphore(value: 0)
        let entered = Notes<Bool>()
        withObservationTracking {
            _ = slow.count
        } onChange: {
            entered.add(true)
            door.wait()
        }
        #expect(slow.send(.increment(by: 1)))
        await entered.until(1)
        for count in 2...20 {
            #expect(await quick.dispatch(.increment(by: 1)).revision != nil)
            #expect(quick.count == Int64(count))
        }
        // Reading is local, so it does not wait for the client's thread either.
        #expect(slow.count == 1)
        door.signal()
        await slow.until { $0.count == 20 }
        blocked.close()
        other.close()
    }
}

extension ClientOptions {
    /// Options of a client that reconnects quickly.
    static var brisk: ClientOptions {
        var options = ClientOptions()
        options.pauseMin = 1_000_000
        options.pauseMax = 20_000_000
        options.keepsTrying = true
        return options
    }
}
