import ReactorWire
import Testing

@Suite("Requests and their answers")
struct RequestsTests {
    @Test("a subscription defaults to the value from now on")
    func subscribeDefaults() throws {
        let request: WireValue = ["path": "/visits"]
        #expect(try Subscribe(wireBytes: request.wireBytes()) == Subscribe(path: "/visits"))
        #expect(Subscribe(path: "/").mode == .value && !Subscribe(path: "/").patches)
    }

    @Test("an unknown mode is refused with the known ones")
    func unknownMode() {
        let request: WireValue = ["path": "/visits", "mode": "patches"]
        do throws(WireError) {
            _ = try Subscribe(wireBytes: request.wireBytes())
            Issue.record("the mode was read")
        } catch {
            #expect(
                error.condition
                    == .unknownCase("patches", known: ["replica", "value", "selection"]))
            #expect(error.path == ["mode"])
        }
    }

    @Test("all options are optional")
    func optionDefaults() throws {
        #expect(try DispatchOptions(wireBytes: [0xa0]) == DispatchOptions())
    }

    @Test("a query without parameters may be its bare name")
    func bareQuestions() throws {
        #expect(try Question(wireBytes: ("tree" as WireValue).wireBytes()) == .tree)
        #expect(try Question(wireBytes: ("stats" as WireValue).wireBytes()) == .stats)
        #expect(throws: WireError.self) {
            try Question(wireBytes: ("get" as WireValue).wireBytes())
        }
    }

    @Test("a refusal keeps its code, even an unknown one")
    func unknownCode() throws {
        let refusal: WireValue = ["code": "TOO_LATE", "message": "come earlier"]
        let decoded = try Refusal(wireBytes: refusal.wireBytes())
        #expect(decoded.code == FaultCode(rawValue: "TOO_LATE"))
        #expect(decoded.nearest == nil)
    }
}
