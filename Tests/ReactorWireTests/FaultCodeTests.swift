import ReactorWire
import Testing

@Suite("The system's codes")
struct FaultCodeTests {
    @Test("a code equals its text, on the wire and in messages")
    func text() throws {
        #expect(FaultCode.notFound.wireBytes() == "NOT_FOUND".wireBytes())
        #expect("\(FaultCode.framing)" == "PROTOCOL")
        #expect(try FaultCode(wireBytes: "BUSY".wireBytes()) == .busy)
    }
}
