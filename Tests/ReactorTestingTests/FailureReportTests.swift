import ReactorTesting
import Testing

@Suite("The destination of failures")
struct FailureReportTests {
    @Test("a log keeps failures in order")
    func log() {
        let log = FailureLog()
        let store = TestStore(Counter(), report: log.report)
        store.send(.increment(by: 1))
        store.sendRejected(.increment(by: 1), "no")
        store.skipAll()
        store.finish()
        #expect(log.texts.count == 2)
        #expect(log.texts[1].contains("and not rejected with no"))
    }

    @Test("a custom report receives the line")
    func place() {
        let line = #line + 6
        let report = FailureReport { text, place in
            #expect(place.fileID == #fileID && place.line == line)
            #expect(text.contains("+   count: 1"))
        }
        let store = TestStore(Counter(), report: report)
        store.send(.increment(by: 1)) { $0.history = [1] }
        store.finish()
    }
}
