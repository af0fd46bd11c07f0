import Testing

@testable import ReactorClient

@Suite("ReadLog")
struct ReadLogTests {
    @Test("F78: what was read and has changed since, before anybody observed it, is known")
    func moved() {
        let (read, other) = (ChangeSignal(), ChangeSignal())
        let log = ReadLog()
        log.collect { read.access() }
        other.access()
        other.publish()
        #expect(!log.haveMoved && !ReadLog.isKept)
        read.publish()
        #expect(log.haveMoved)
    }
}
