import ReactorThreads
import Testing

@Suite struct GaugeTests {
    @Test("a gauge is above zero while a caller is inside, on any thread")
    func counts() throws {
        let gauge = Gauge()
        #expect(!gauge.isAboveZero)
        gauge.enter()
        let thread = try WorkThread(name: "visitor") { gauge.enter() }
        thread.join()
        gauge.leave()
        #expect(gauge.isAboveZero)
        gauge.leave()
        #expect(!gauge.isAboveZero)
    }
}
