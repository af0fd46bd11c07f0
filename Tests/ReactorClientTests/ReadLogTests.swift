import Testing

@testable import ReactorClient

@Suite("ReadLog")
struct ReadLogTests {
    @Test("F78: a log detects a change between a read and the installation of observers")
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
