import ReactorBytes
import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

/// Runs, actions and batches, tested without a server.
struct DispatcherTests {
    private func frame(_ ordinal: UInt64, _ action: Tally.Action, id: UInt32 = 0) -> [UInt8] {
        TestClient.frame(.dispatch, id: id, number: ordinal, action.wireBytes())
    }

    private func run(_ bytes: [UInt8], _ bench: OrganBench) -> Int {
        bench.dispatcher.dispatchRun(bytes.span, from: 0, of: bench.connection)
    }

    @Test("a run takes the plain actions of the next ordinals, and stops at another frame")
    func runs() throws {
        let bench = try OrganBench()
        bench.open("/visits")
        _ = bench.endTurn()
        let plain = frame(1, .add(by: 1)) + frame(2, .add(by: 1))
        #expect(run(plain + TestClient.frame(.ping) + frame(3, .add(by: 1)), bench) == plain.count)
        #expect(bench.session.ordinal == 2 && bench.tree.turn.sequence == 2)
        #expect(bench.connection.outlet.value.inFlight.count == 2)
        let gap = frame(4, .add(by: 1))
        #expect(run(gap, bench) == 0, "ordinal 3 is missing")
        #expect(run(frame(3, .add(by: 1), id: 9), bench) == 0, "node 9 is not open")
        #expect(bench.endTurn().map(\.kind) == [.applied])
        #expect(bench.orders.stats.actions == 2)
    }

    @Test("a run ends with the first action that is not plain, whose outcome follows")
    func ending() throws {
        let bench = try OrganBench()
        bench.open("/visits")
        _ = bench.endTurn()
        let first = frame(1, .add(by: 1)) + frame(2, .refuse(text: "no"))
        #expect(run(first + frame(3, .add(by: 1)), bench) == first.count)
        #expect(bench.session.ordinal == 2)
        #expect(bench.endTurn().map(\.kind) == [.applied, .outcome])
        #expect(bench.connection.inlet.value.usedByteCount == UInt64(first.count))
    }

    @Test("a run is no longer than the window")
    func window() throws {
        let bench = try OrganBench { $0.inFlightMax = 2 }
        bench.open("/visits")
        _ = bench.endTurn()
        let two = frame(1, .add(by: 1)) + frame(2, .add(by: 1))
        #expect(run(two + frame(3, .add(by: 1)), bench) == two.count)
        #expect(run(frame(3, .add(by: 1)), bench) == 0)
    }

    @Test("a repeated action counts as a frame, and is not run again")
    func again() throws {
        let bench = try OrganBench()
        bench.open("/visits")
        let body = Tally.Action.add(by: 1).wireBytes()
        let header = FrameHeader(length: UInt32(body.count), kind: .dispatch, number: 1)
        let counts = (1...2).map { _ in
            bench.dispatcher.dispatch(header, body.span, of: bench.connection)
        }
        #expect(counts == [0, 1] && bench.tree.turn.sequence == 1)
        #expect(bench.orders.stats.repeats == 1)
    }

    @Test("a server that cannot write refuses actions, and takes no run")
    func readOnly() throws {
        let bench = try OrganBench(keepsHistory: true)
        bench.open("/visits")
        _ = bench.endTurn()
        bench.chronicle.beginReadOnly()
        #expect(run(frame(1, .add(by: 1)), bench) == 0)
        let body = Tally.Action.add(by: 1).wireBytes()
        _ = bench.dispatcher.dispatch(
            FrameHeader(kind: .dispatch, number: 1), body.span, of: bench.connection)
        let outcome = try #require(bench.endTurn().first).decode(Outcome.self)
        guard case .rejected(FaultCode.diskFull.rawValue, _) = outcome else {
            Issue.record("\(outcome) on a full disk")
            return
        }
        #expect(bench.tree.turn.sequence == 0)
    }
}
