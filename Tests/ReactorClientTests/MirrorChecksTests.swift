import ReactorCore
import ReactorServer
import StockReactors
import Testing

@testable import ReactorClient

/// Mirrors that compare themselves with the daemon.
struct MirrorChecksTests {
    private typealias Action = StockReactors.Counter.Action

    /// Two clients, one with a mirror, the other with a node to write to.
    private struct Pair {
        let rig = Rig()
        let reader: Rig.Joined
        let writer: Rig.Joined
        let mirror: ReactorClient.Mirror<StockReactors.Counter>
        let node: NodeID

        init() throws {
            reader = rig.client()
            writer = rig.client()
            mirror = try reader.mirror("/visits", rig)
            node = try writer.open("/visits", rig)
        }

        func write(_ amount: Int64 = 1) throws {
            try writer.machine.dispatch(Action.increment(by: amount), to: node)
        }
    }

    @Test("C91: a mirror with the daemon's state is equal to it, at rest and under traffic")
    func same() throws {
        let pair = try Pair()
        var answers: [Bool?] = []
        for round in 0..<20 {
            pair.reader.machine.verify(pair.mirror) { answers.append(try? $0.get()) }
            // These writes are in the turn of the question, some before it and some after it.
            for _ in 0..<round { try pair.write() }
            pair.rig.run()
        }
        #expect(answers == [Bool?](repeating: true, count: 20))
        #expect(pair.reader.machine.statistics.resynchronisations == 0)
        #expect(pair.reader.machine.statistics.verifications == 20)
    }

    @Test("C91: a late checksum is compared with the mirror's state at the checksum's revision")
    func late() throws {
        var limits = ServerLimits()
        limits.answerBytesPerTurnMax = 0
        let rig = Rig(limits: limits)
        let (reader, writer) = (rig.client(), rig.client())
        let mirror = try reader.mirror("/visits", rig)
        let node = try writer.open("/visits", rig)
        try writer.machine.dispatch(Action.increment(by: 1), to: node)
        rig.run()
        var answers: [Bool?] = []
        reader.machine.verify(mirror) { answers.append(try? $0.get()) }
        rig.run()
        #expect(rig.captures.count == 1 && answers.isEmpty)
        try writer.machine.dispatch(Action.increment(by: 1), to: node)
        rig.run()
        #expect(mirror.state.count == 2)
        rig.server.encoded(rig.captures.removeFirst().encode())
        rig.run()
        #expect(answers == [true])
        #expect(rig.captures.isEmpty && reader.sent.filter { $0.kind == .ask }.count == 1)
    }

    @Test("C91: a flipped bit in a delta is detected, and the mirror restarts")
    func flipped() throws {
        let pair = try Pair()
        try pair.write(4)
        pair.rig.run()
        pair.reader.onDown = { frames in
            frames.map { frame in
                var frame = frame
                if frame.kind == .delta { frame.body[frame.body.count - 1] ^= 1 }
                return frame
            }.bytes
        }
        try pair.write(2)
        pair.rig.run()
        #expect(pair.mirror.state.count == 7)
        pair.reader.onDown = nil
        var answer: Bool?
        pair.reader.machine.verify(pair.mirror) { answer = try? $0.get() }
        pair.rig.run()
        #expect(answer == false)
        #expect(pair.mirror.state.count == 6)
        #expect(pair.reader.machine.statistics.resynchronisations == 1)
        let news = pair.reader.machine.shared.news.notice(from: 0)?.0
        #expect(
            news == .resynchronised(path: "/visits", at: Revision(epoch: 7, sequence: 2)))
        pair.reader.machine.verify(pair.mirror) { answer = try? $0.get() }
        try pair.write()
        pair.rig.run()
        #expect(answer == true && pair.mirror.state.count == 7)
    }

    @Test("C91: a question is repeated after a lost connection, and after a new history")
    func lost() throws {
        let pair = try Pair()
        try pair.write()
        pair.rig.run()
        for cut in 0..<400 {
            var answer: Bool?
            pair.reader.downBudget = cut
            pair.reader.machine.verify(pair.mirror) { answer = try? $0.get() }
            try pair.write()
            pair.rig.run()
            #expect(answer == true, "cut after \(cut) bytes")
        }
    }

    @Test("C91: a garbled answer, a released mirror and a client that ends are errors")
    func errors() throws {
        let pair = try Pair()
        var results: [Result<Bool, ClientError>] = []
        pair.reader.onDown = { frames in
            frames.map { $0.kind == .answer ? Frame($0.header, [0xa0]) : $0 }.bytes
        }
        pair.reader.machine.verify(pair.mirror) { results.append($0) }
        pair.rig.run()
        guard case .failure(.daemonFault) = results[0] else {
            Issue.record("a garbled answer was \(results[0])")
            return
        }
        pair.reader.onDown = nil
        pair.reader.machine.verify(pair.mirror) { results.append($0) }
        pair.reader.machine.close()
        pair.reader.machine.verify(pair.mirror) { results.append($0) }
        #expect(results.dropFirst() == [.failure(.ended), .failure(.ended)])
    }

    @Test("C91: a mirror of a closed client is not compared")
    func gone() throws {
        let pair = try Pair()
        let other = pair.rig.client()
        var result: Result<Bool, ClientError>?
        other.machine.verify(pair.mirror) { result = $0 }
        #expect(result == .failure(.gone(path: "/visits")))
    }
}
