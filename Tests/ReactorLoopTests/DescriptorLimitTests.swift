import Glibc
import ReactorLoop
import Testing

@Suite struct DescriptorLimitTests {
    @Test("the limit is raised as far as the system allows, and never lowered")
    func raises() async {
        await #expect(processExitsWith: .success) {
            var limits = rlimit(rlim_cur: 100, rlim_max: 200)
            let code = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits)
            #expect(code == 0)
            #expect(DescriptorLimit.current == 100)
            #expect(DescriptorLimit.raise(to: 150) == 150)
            #expect(DescriptorLimit.raise(to: 50) == 150)
            #expect(DescriptorLimit.raise(to: 1_000) == 200)
        }
    }
}
