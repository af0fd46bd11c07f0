import ReactorCore
import ReactorServer
import ReactorWire
import Testing

@testable import ReactorDaemon

/// Drives ``HandoverDocument`` and ``Predecessor``.
@Suite("The document of a handover")
struct HandoverDocumentTests {
    private func document() throws -> HandoverDocument {
        let server = Server(
            Tree(ReactorGroup([]), epoch: 7), hasJournal: false, random: { 1 })
        return HandoverDocument(
            pid: 4_242, row: 17, dataLock: 5,
            sockets: [
                HandedSocket(role: .main, path: "/run/s", listener: 6, lock: 7),
                HandedSocket(role: .metrics, path: "/run/m", listener: 8, lock: nil),
            ], links: [HandedLink(connection: 3, descriptor: 9)],
            server: server.handOver(unsent: { _ in [] }),
            slow: [.of(.turn, 9)])
    }

    @Test("it is read as it was written, with every descriptor")
    func whole() throws {
        let document = try document()
        let read = try HandoverDocument(fileBytes: document.fileBytes)
        #expect(read == document)
        #expect(read.descriptors == [5, 6, 7, 8, 9])
    }

    @Test("a changed or missing byte, another version and another file are refused by name")
    func damaged() throws {
        let bytes = try document().fileBytes
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 1
            #expect(throws: DaemonError.self) { try HandoverDocument(fileBytes: changed) }
            #expect(throws: DaemonError.self) {
                try HandoverDocument(fileBytes: Array(bytes[..<index]))
            }
        }
        var other = bytes
        other[7] = 9
        let error = #expect(throws: DaemonError.self) { try HandoverDocument(fileBytes: other) }
        #expect(error.map { "\($0)" }?.contains("version 9") ?? false)
    }

    @Test("a process without the variable is no successor, and a wrong variable is refused")
    func variable() throws {
        #expect(try Predecessor([:]) == nil)
        for text in ["", "1", "1:2", "3:x", "5:6:7"] {
            #expect(throws: DaemonError.self) { try Predecessor(["REACTORD_HANDOVER": text]) }
        }
    }
}
