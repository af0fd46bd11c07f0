import ReactorWire
import Testing

@testable import ReactorServer

/// Which quota a user has.
struct QuotaRulesTests {
    private func quota(_ change: (inout UserQuota) -> Void) -> UserQuota {
        var quota = UserQuota()
        change(&quota)
        return quota
    }

    @Test("for each kind, the first rule counts that names the user and has the kind")
    func first() {
        let rate = TokenRate(5, in: 1)
        let rules = QuotaRules([
            .init(to: .uid(5), quota { $0.connectionsMax = 7 }),
            .init(
                to: .gid(20),
                quota {
                    $0.connectionsMax = 2
                    $0.actions = rate
                }),
            .init(to: .anyone, quota { $0.memoryMax = 1 << 20 }),
        ])
        let member = Peer(uid: 5, gid: 5, pid: 1, groups: [20])
        #expect(
            rules.quota(of: member)
                == quota {
                    $0.connectionsMax = 7
                    $0.actions = rate
                    $0.memoryMax = 1 << 20
                })
        #expect(
            rules.quota(of: Peer(uid: 6, gid: 6, pid: 1)) == quota { $0.memoryMax = 1 << 20 })
        // That number stands for different users, and for none of them a rule holds but one for all.
        #expect(
            rules.quota(of: Peer(uid: 65_534, gid: 20, pid: 1))
                == quota { $0.memoryMax = 1 << 20 })
        #expect(rules.namesGroups && rules.memoryMin == 1 << 20)
        #expect(!QuotaRules().namesGroups && QuotaRules().memoryMin == nil)
    }
}
