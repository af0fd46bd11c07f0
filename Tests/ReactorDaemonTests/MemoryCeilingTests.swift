import ReactorClient
import ReactorCore
import ReactorServer
import ReactorWire
import StockReactors
import TestPrograms
import Testing

@testable import ReactorDaemon

@Suite("The measured memory ceiling")
struct MemoryCeilingTests {
    private let home = TestDirectory()

    @Test("freed memory is given back before the level is decided, at most every five seconds")
    func trimming() {
        var (used, trimCount) = (1_000, 0)
        let ceiling = MemoryCeiling(
            of: 1_000, measure: { used },
            trim: {
                trimCount += 1
                used -= 200
            })
        #expect(ceiling.measure(received: 0, at: 1) == .none)
        #expect(trimCount == 1 && ceiling.usedByteCount == 800)
        used = 1_000
        #expect(ceiling.measure(received: 0, at: 2) == .full && trimCount == 1)
        #expect(
            ceiling.measure(received: 0, at: 1 + MemoryCeiling.trimInterval) == .none
                && trimCount == 2)
        used = 800
        #expect(ceiling.measure(received: 0, at: .max) == .none && trimCount == 2)
    }

    @Test("what the next start needs counts as used, exactly at a refusal and at a trim")
    func reserved() {
        var asked: [Bool] = []
        var (estimate, exact) = (100, 100)
        let ceiling = MemoryCeiling(of: 1_000, measure: { 700 }, trim: {})
        func measure(at now: UInt64) -> MemoryPressure {
            asked = []
            return ceiling.measure(received: 0, at: now) { isExact in
                asked.append(isExact)
                return isExact ? exact : estimate
            }
        }
        #expect(measure(at: 1) == .none && asked == [false])
        estimate = 500
        #expect(measure(at: 2) == .none && asked == [false, true])
        #expect(ceiling.reservedByteCount == 100 && ceiling.usedByteCount == 700)
        // The trim was just made, and the estimate alone would refuse growth.
        #expect(measure(at: 3) == .none && asked == [false, true])
        estimate = 220
        #expect(measure(at: 4) == .high && asked == [false])
        (estimate, exact) = (300, 300)
        #expect(measure(at: 5) == .full && asked == [false, true])
        #expect(measure(at: 6) == .full && asked == [false])
        exact = 100
        #expect(measure(at: 2 + MemoryCeiling.trimInterval) == .none && asked == [false, true])
        #expect(ceiling.summary.contains("free for its next start"))
    }

    @Test(
        "a measurement is due when clients have sent a 64th of the ceiling, and never without one")
    func due() {
        let ceiling = MemoryCeiling(of: 6_400, measure: { 0 }, trim: {})
        #expect(!ceiling.isDue(received: 99) && ceiling.isDue(received: 100))
        _ = ceiling.measure(received: 150, at: 0)
        #expect(!ceiling.isDue(received: 249) && ceiling.isDue(received: 250))
        #expect(!MemoryCeiling(of: 0, measure: { 0 }, trim: {}).isDue(received: .max - 1))
    }

    @Test("a measurement is due when clients have sent an eighth of what one user may keep")
    func dueForUsers() {
        let ceiling = MemoryCeiling(of: 1 << 40, measure: { 0 }, trim: {})
        ceiling.setMax(1 << 40, userMax: 16 << 20)
        #expect(!ceiling.isDue(received: 2 << 20 - 1) && ceiling.isDue(received: 2 << 20))
        ceiling.setMax(0, userMax: 1 << 20)
        #expect(!ceiling.isDue(received: 1 << 20 - 1) && ceiling.isDue(received: 1 << 20))
        #expect(ceiling.measure(received: 1 << 20, at: 0) == .none && ceiling.usedByteCount == 0)
    }

    @Test("by default a user may keep half of the ceiling, at most 512 MiB")
    func automatic() {
        func userMax(_ memoryMax: Int, written: Int = 0) -> Int {
            var limits = ServerLimits()
            (limits.memoryMax, limits.memoryPerUIDMax) = (memoryMax, written)
            MemoryCeiling.chooseAutomatic(in: &limits)
            return limits.memoryPerUIDMax
        }
        #expect(userMax(240 << 20) == 120 << 20 && userMax(8 << 30) == 512 << 20)
        #expect(userMax(8 << 30, written: 5 << 20) == 5 << 20)
    }

    /// Whether an action was refused for lack of memory.
    private func isFull(_ outcome: DispatchOutcome<Map.Reply>) -> Bool {
        guard case .rejected(let rejection) = outcome else { return false }
        return rejection.code == FaultCode.memoryFull.rawValue
    }

    @Test(
        "a daemon at its ceiling refuses what grows, and serves all again once states are smaller",
        .timeLimit(.minutes(15)))
    func process() async throws {
        let daemon = try await DaemonProcess.start(
            config: """
                data: { directory: \(home.path("data")), snapshotBytes: 64MiB }
                limits: { memoryMax: 160MiB, stateBytesMax: 64GiB }
                reactors: { settings: { kind: map }, visits: { kind: counter } }
                """, in: home)
        let client = try await Client.connect(
            to: daemon.socketPath, options: ClientOptions(program: "tests"))
        let settings = try await client.mirror(Map.self, at: "/settings")
        let text = String(repeating: "x", count: 250_000)
        var count = 0
        func fill() async {
            while count < 2_000 {
                let outcome = await settings.dispatch(
                    .set(key: WireKey("k\(count)"), value: .text(text)))
                if isFull(outcome) { return }
                #expect(outcome.revision != nil, "\(outcome)")
                count += 1
            }
        }
        await fill()
        #expect((20..<1_000).contains(count), "\(daemon.log)")
        #expect(
            await holds { daemon.log.contains("accepting only actions that make states smaller") })
        let reactorctl = Reactorctl(daemon: daemon)
        func grow() async throws -> ClientProgram.Run {
            try await reactorctl("dispatch", "/settings", #"{"set":{"key":"a","value":1}}"#)
        }
        var refused = try await grow()
        // Memory that was freed since the refusal lets the daemon below its ceiling until the
        // states alone reach it.
        while refused.code == 0, count < 1_000 {
            await fill()
            refused = try await grow()
        }
        #expect(refused.code == 74 && refused.output.contains("MEMORY_FULL"), "\(refused)")
        #expect(try await reactorctl("get", "/visits/count").output == "0\n")
        #expect(await settings.dispatch(.clear).revision != nil)
        var outcome = await settings.dispatch(.set(key: "again", value: 1))
        while isFull(outcome) { outcome = await settings.dispatch(.set(key: "again", value: 1)) }
        #expect(outcome.revision != nil, "\(outcome)\n\(daemon.log)")
        client.close()
        #expect(await daemon.stop() == .exited(0))
    }
}
