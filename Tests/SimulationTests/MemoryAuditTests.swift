import ReactorServer
import ReactorTesting
import Testing

/// The comparison of a server's memory with its limits.
struct MemoryAuditTests {
    private func audit(_ change: (inout ServerLimits) -> Void = { _ in }) -> MemoryAudit {
        var limits = ServerLimits()
        change(&limits)
        return MemoryAudit(limits, stateBytesMax: 100, turnBytesMax: 100)
    }

    @Test("values within their limits are no findings, larger ones are reported with both numbers")
    func findings() {
        var memory = ServerMemory()
        memory.ringBytes = 1_000
        memory.sessions = 5
        memory.connections = 2
        #expect(audit().findings(memory) == [])
        #expect(
            audit { $0.ringBytesMax = 999 }.findings(memory) == ["ring bytes: 1000, at most 999"])
        #expect(audit { $0.sessionsMax = 4 }.findings(memory) == ["sessions: 5, at most 4"])
        // Sessions of connected clients are not evicted.
        memory.connections = 5
        #expect(audit { $0.sessionsMax = 4 }.findings(memory) == [])
    }

    @Test("each value has its limit")
    func rows() {
        let audit = audit()
        func find(_ words: String, _ change: (inout ServerMemory) -> Void) {
            var memory = ServerMemory()
            memory.connections = 1
            #expect(audit.findings(memory) == [])
            change(&memory)
            #expect(audit.findings(memory).contains { $0.hasPrefix(words) }, "\(words)")
        }
        find("connections") { $0.connections = 2_000 }
        find("silent connections") { $0.silentConnections = 65 }
        find("slices") { $0.slices = 1 }
        find("subscriptions") { $0.subscriptions = 257 }
        find("update bytes") { $0.updateBytesOfOne = 1 << 21 }
        find("control bytes") { $0.controlBytesOfOne = 1 << 17 }
        find("input bytes") { $0.inputBytesOfOne = 1 << 21 }
        find("kept bytes") { $0.keptBytesOfOne = 1 << 23 }
        find("outcomes") { $0.outcomesOfOne = 1 << 15 }
        find("snapshot bytes") { $0.snapshotBytes = 1 << 27 }
    }

    /// Seeds to try for each kind.
    private static let seedCount: UInt64 = 10

    @Test(
        "X117: a planted miscount of one byte of any kind is found by most seeds",
        arguments: ["input", "output", "outcomes"])
    func miscounted(_ name: String) async throws {
        let found = try await Apart.run { () -> Int in
            let kinds: [String: WritableKeyPath<MemoryCharge, Int>] = [
                "input": \.input, "output": \.output, "outcomes": \.outcomes,
            ]
            let kind = try #require(kinds[name])
            return (0..<Self.seedCount).count { seed in
                let audit = MemoryAudit(Crowd.limits, stateBytesMax: 32_000, turnBytesMax: 16_000)
                let crowd = Crowd(seed: seed, clients: 4, audit: audit)
                crowd.world.hooks.distort = { charges in
                    for (uid, charge) in charges where charge[keyPath: kind] > 0 {
                        charges[uid]?[keyPath: kind] -= 1
                    }
                }
                crowd.world.run(for: 400_000_000)
                return crowd.world.violations.contains {
                    $0.contains("the ledger is wrong") && $0.contains(name)
                }
            }
        }
        #expect(found >= 8, "\(found) of \(Self.seedCount) seeds find a miscount of \(name)")
    }

    @Test(
        "a simulation notices a server that keeps more than its limits allow",
        arguments: ["ring bytes", "update bytes", "sessions"])
    func planted(_ name: String) throws {
        var audit = MemoryAudit(Crowd.limits, stateBytesMax: 32_000, turnBytesMax: 16_000)
        switch name {
        case "ring bytes": audit.limits.ringBytesMax /= 2
        case "update bytes": audit.limits.queueBytesMax = -44_000
        default: audit.limits.sessionsMax /= 2
        }
        let crowd = Crowd(seed: 1, clients: 4, audit: audit)
        try crowd.finish()
        let findings = crowd.world.violations.filter { $0.contains("too much is kept: \(name)") }
        #expect(!findings.isEmpty)
    }
}
