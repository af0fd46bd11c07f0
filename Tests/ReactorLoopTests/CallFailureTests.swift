import Glibc
import ReactorLoop
import Testing

@Suite struct CallFailureTests {
    @Test("a failed call is described with its name, its subject, and the system's symbol and text")
    func describesACall() {
        let failure = CallFailure(call: "connect", code: -ECONNREFUSED, subject: "/run/r.sock")
        #expect(failure.name == "ECONNREFUSED")
        #expect(failure.errnoCode == ECONNREFUSED)
        let text = "connect on /run/r.sock: connection refused (ECONNREFUSED)"
        #expect(failure.description == text)
        #expect(LoopError.call(failure).description == text)
        #expect(LoopError.call(failure).failure == failure)
        #expect(LoopError.pathIsEmpty.failure == nil)
    }

    @Test("a code unknown to the system is described by its number")
    func unknownCode() {
        let failure = CallFailure(call: "bind", code: -9_999, subject: "s")
        #expect(failure.name.contains("9999"))
        #expect(failure.message.contains("9999"))
    }
}
