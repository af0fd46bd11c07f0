import ReactorWire
import Testing

/// The answers of `log` for bytes chosen by a client.
@Suite("Answers to history queries")
struct HistoryAnswersTests {
    // [WIRE-3-1]
    @Test(
        "an action is reported in the daemon's form, however its client encoded it",
        arguments: [
            // a tag around a text, an indefinite map, a text in chunks, a long head, a wide float
            ("c160", "60"), ("bf616101ff", "a1616101"),
            ("7f61616162ff", "626162"), ("1b0000000000000001", "01"),
            ("fb3ff0000000000000", "f93c00"), ("a2616201616102", "a2616102616201"),
            ("f7", "f6"),
        ])
    func canonical(came: String, told: String) {
        let action = LogAction(path: "/visits", bytes: [UInt8](hex: came).span)
        #expect(action.action.bytes.hex == told)
        #expect(!action.isRaw)
    }

    // [WIRE-11-3]
    @Test(
        "bytes that are not a wire value are reported as a flagged byte string",
        arguments: ["", "c24101", "a10102", "a161ff00", "ff", "0000", "a2616101616102", "f0"])
    func raw(came: String) throws {
        let bytes = [UInt8](hex: came)
        let action = LogAction(path: "/visits", bytes: bytes.span)
        #expect(action.isRaw)
        #expect(try action.action.decode(as: WireValue.self) == .bytes(bytes))
        let page = LogAction.self
        #expect(try page.init(wireBytes: action.wireBytes()) == action)
    }

    @Test("an action nested too deeply is reported as a byte string")
    func deep() {
        let allowed = [UInt8](repeating: 0x81, count: WireLimits.actionDepthMax) + [0x00]
        #expect(!LogAction(path: "/", bytes: allowed.span).isRaw)
        #expect(LogAction(path: "/", bytes: ([0x81] + allowed).span).isRaw)
    }
}
