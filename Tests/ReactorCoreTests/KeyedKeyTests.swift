import ReactorCore
import Testing

@Suite("KeyedKey")
struct KeyedKeyTests {
    /// An author's identifier type.
    struct JobID: RawRepresentable, KeyedKey, Hashable {
        var rawValue: UInt64
    }

    @Test("an identifier with a raw value is a key")
    func rawValue() throws {
        let jobs: Keyed<JobID, Int> = [JobID(rawValue: 7): 1]
        #expect(try WireValue(wireBytes: jobs.wireBytes()).json() == #"{"7":1}"#)
        #expect(try Keyed<JobID, Int>(wireBytes: jobs.wireBytes())[JobID(rawValue: 7)] == 1)
    }
}
