import ReactorCore
import Testing

@Suite("CoreLimits")
struct CoreLimitsTests {
    @Test("the limits equal the contract's")
    func values() {
        #expect(CoreLimits.mutationsMax == 4_096)
        #expect(CoreLimits.followerDepthMax == 64)
        #expect(CoreLimits.followersMax == 1_024)
        #expect(CoreLimits.effectsMax == 65_536)
    }
}
