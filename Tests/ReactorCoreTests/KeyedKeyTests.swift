import ReactorCore
import Testing

@Suite("KeyedKey")
struct KeyedKeyTests {
    /// An author's identifier type.
    struct JobID: RawRepresentable, KeyedKey, Hashable {
        var rawValue: UInt64
    }

    /// An author's enum as a key.
    enum Floor: String, KeyedKey { case ground, first }

    /// An author's name as a key.
    struct Name: RawRepresentable, KeyedKey, Hashable {
        var rawValue: String
    }

    private func check<Key: KeyedKey>(_ key: Key, _ text: String) throws {
        var keyed: Keyed<Key, Int> = [key: 1]
        _ = keyed.drainTouched()
        keyed[key]? += 1
        #expect(keyed.drainTouched() == .keys([key]))
        #expect(try WireValue(wireBytes: keyed.wireBytes()).json() == "{\"\(text)\":2}")
        #expect(try Keyed<Key, Int>(wireBytes: keyed.wireBytes()) == keyed)
        var writer = WireWriter()
        #expect(keyed.encode(at: [WireKey(text)], into: &writer) == .found)
        #expect(writer.bytes == 2.wireBytes())
    }

    @Test("texts, integers, enums and identifiers are keys, with one text each")
    func types() throws {
        try check("web", "web")
        try check("\u{e9}", "\u{e9}")
        try check(WireKey("web"), "web")
        try check(-7, "-7")
        try check(UInt64.max, "18446744073709551615")
        try check(Floor.first, "first")
        try check(Name(rawValue: "ann"), "ann")
        try check(JobID(rawValue: 7), "7")
        #expect(Int.equalsByText && WireKey.equalsByText && JobID.equalsByText)
        #expect(!String.equalsByText && !Name.equalsByText)
    }

    @Test("an identifier with a raw value is a key")
    func rawValue() throws {
        let jobs: Keyed<JobID, Int> = [JobID(rawValue: 7): 1]
        #expect(try WireValue(wireBytes: jobs.wireBytes()).json() == #"{"7":1}"#)
        #expect(try Keyed<JobID, Int>(wireBytes: jobs.wireBytes())[JobID(rawValue: 7)] == 1)
    }
}
