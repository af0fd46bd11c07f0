import ReactorWire
import Testing

@Suite("Errors")
struct WireErrorTests {
    @Test("an error names the path and the offset of the invalid value")
    func errorPaths() {
        let error = #expect(throws: WireError.self) {
            try [String: [Int8]](wireBytes: [UInt8](hex: "a16161820118ff"))
        }
        #expect(error?.path == ["a", "1"])
        #expect(error?.offset == 5)
        #expect(
            error?.description
                == "a.1 at byte 5: out of range, expected an integer from -128 to 127")
        let hostile = WireError(.duplicateKey("\u{1b}[2J"), at: 0, path: ["x\ny"])
        #expect(hostile.description == #""x\ny" at byte 0: key "\u001b[2J" occurs twice"#)
    }
}
