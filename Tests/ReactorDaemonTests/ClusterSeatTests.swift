import ReactorBytes
import ReactorCluster
import ReactorCore
import ReactorServer
import ReactorThreads
import ReactorWire
import StockReactors
import TestPrograms
import Testing

@testable import ReactorDaemon

/// A shell with a seat in a cluster, on a real loop with real sockets. Drives ``ClusterSeat`` and
/// ``MeteredLog``.
@Suite("a node's seat in its cluster", .timeLimit(.minutes(10)))
struct ClusterSeatTests {
    private let home = TestDirectory()
    private let state = Guarded(ScriptedState())

    private static func numbers(_ rig: SeatRig) -> [UInt64] {
        rig.read { $0.server.clients.map(\.connection).sorted() }
    }

    private static func leads(_ rig: SeatRig) async -> Bool {
        await holds { rig.read { $0.server.mode == .leading } }
    }

    @Test("connections have numbers of the node and its start, which differ after a restart")
    func numbers() async throws {
        var seen: [UInt64] = []
        for start in 1...2 as ClosedRange<UInt64> {
            let rig = try SeatRig(state, in: home)
            #expect(await Self.leads(rig))
            let clients = try (0..<2).map { _ in
                try #require(RawSocket.welcomed(at: rig.socket))
            }
            let incarnation = rig.read { $0.seat?.member.incarnation ?? 0 }
            #expect(start == 1 ? incarnation == 1 : incarnation > 1)
            let numbers = Self.numbers(rig)
            #expect(numbers.map { $0 >> 56 } == [3, 3], "the node's index")
            #expect(numbers.map { $0 >> 32 & 0xff_ffff } == [incarnation, incarnation])
            #expect(numbers.map { $0 & 0xffff_ffff } == [1, 2])
            #expect(Set(numbers).isDisjoint(with: seen))
            seen += numbers
            withExtendedLifetime(clients) {}
            rig.stop()
        }
    }

    private static func health(
        _ rig: SeatRig, at socket: String, in home: TestDirectory
    ) async throws -> ChildProcess.Ending {
        let process = try ChildProcess(
            Built.product("reactorctl"),
            ["--socket", socket, "health", "--write", "--timeout", "300s"], in: home,
            name: "health")
        return await process.ended()
    }

    @Test("a connection that was admitted before the number was known is closed then")
    func early() async throws {
        state.withLock { $0.isUp = false }
        let rig = try SeatRig(state, in: home)
        let early = try #require(RawSocket.welcomed(at: rig.adminSocket))
        #expect(Self.numbers(rig) == [1] && rig.read { $0.server.mode == .cut })
        // Other clients are refused.
        let refused = try #require(RawSocket(rig.socket))
        #expect(!refused.rest().isEmpty)
        #expect(try await Self.health(rig, at: rig.adminSocket, in: home) == .exited(75))
        rig.connect(state)
        #expect(await Self.leads(rig))
        _ = early.rest()
        #expect(await holds { Self.numbers(rig).isEmpty })
        let later = try #require(RawSocket.welcomed(at: rig.socket))
        #expect(Self.numbers(rig) == [3 << 56 | 1 << 32 | 1])
        withExtendedLifetime(later) {}
        #expect(try await Self.health(rig, at: rig.socket, in: home) == .exited(0))
        rig.stop()
    }

    @Test("a leader that hands over tells its clients why it closes their connections")
    func farewell() async throws {
        let rig = try SeatRig(state, in: home)
        #expect(await Self.leads(rig))
        let greeted = try #require(RawSocket.welcomed(at: rig.socket))
        let administrator = try #require(RawSocket.welcomed(at: rig.adminSocket))
        let silent = try #require(RawSocket(rig.socket))
        #expect(await holds { rig.read { $0.links.value.objects.count == 3 } })
        let before = try #require(rig.read { $0.seat?.figures.staleRefusals })
        #expect(rig.read { (try? $0.seat?.stepDown(to: nil)) != nil })
        for client in [greeted, administrator, silent] {
            let closing = try #require(client.frame())
            #expect(closing.kind == .closing)
            #expect(try Closing(wireBytes: closing.body).code == .cut)
            #expect(client.rest().isEmpty)
        }
        #expect(rig.read { $0.seat?.figures.staleRefusals } == before + 3)
        rig.stop()
    }

    @Test("a node's report has the fingerprint of its reactors, and the status says which differ")
    func fingerprints() async throws {
        let own = try await report()
        // The next start has another program.
        let rig = try SeatRig(
            state, in: home, ReactorGroup([("visits", Counter()), ("more", Counter())]))
        #expect(await holds { state.withLock { $0.reports[3]?.report.fingerprint != own } })
        rig.stop()
    }

    /// The fingerprint that a node reports, after the status and its table have been checked.
    private func report() async throws -> UInt64 {
        let rig = try SeatRig(state, in: home)
        #expect(await Self.leads(rig))
        let own = rig.read { TypesFingerprint(of: $0.server.tree).value }
        let reported = try #require(state.withLock { $0.reports[3]?.report })
        #expect(reported.fingerprint == own && own != 0)
        // Two other nodes report: one with the same program, one with another.
        for (index, fingerprint) in [(1, own), (2, own &+ 1)] as [(UInt8, UInt64)] {
            var report = NodeReport(node: ClusterNode(index))
            (report.fingerprint, report.incarnation) = (fingerprint, 1)
            state.withLock { $0.reports[index] = NodeSighting(version: 1, report: report) }
        }
        #expect(await holds { rig.read { $0.seat?.status.nodes[1].incarnation == 1 } })
        let status = try #require(rig.read { $0.seat?.status })
        #expect(status.nodes.map { status.differs($0) } == [false, true, false])
        let (plain, json) = try await tables(rig)
        #expect(plain.contains("other reactors than the leader's: b\n"), "\(plain)")
        #expect(plain.contains("REACTORS") && plain.contains("differ"))
        #expect(json.contains(#""sameReactorsAsLeader":false"#), "\(json)")
        rig.stop()
        return own
    }

    /// The output of `reactorctl cluster status`, for people and as JSON.
    private func tables(_ rig: SeatRig) async throws -> (plain: String, json: String) {
        var outputs: [String] = []
        for arguments in [[], ["--json"]] as [[String]] {
            let process = try ChildProcess(
                Built.product("reactorctl"),
                ["--socket", rig.socket, "cluster", "status"] + arguments, in: home,
                name: "status-\(outputs.count)")
            #expect(await process.ended() == .exited(0), "\(process.errors)")
            outputs.append(process.output)
        }
        return (outputs[0], outputs[1])
    }

    @Test("a node's figures count its leaderships, appends, rows and refusals")
    func figures() async throws {
        state.withLock { $0.isUp = false }
        let rig = try SeatRig(state, in: home)
        let refused = try #require(RawSocket(rig.socket))
        #expect(!refused.rest().isEmpty)
        var figures = try #require(rig.read { $0.seat?.figures })
        #expect(figures.role == .following && figures.isCut && !figures.hasLeader)
        #expect(figures.staleRefusals == 1 && figures.age == nil && figures.logByteCount == nil)
        rig.connect(state)
        #expect(await Self.leads(rig))
        #expect(await holds { rig.read { $0.seat?.member.position.row.number ?? 0 > 0 } })
        figures = try #require(rig.read { $0.seat?.figures })
        #expect(figures.role == .leading && !figures.isCut && figures.takeovers == 1)
        #expect(figures.meter.appendedCount > 0 && figures.headRow == figures.appliedRow)
        #expect(figures.clockDifference == 0 && (figures.logByteCount ?? -1) >= 0)
        #expect(figures.named["clusterLeading"] == 1)
        rig.stop()
    }
}
