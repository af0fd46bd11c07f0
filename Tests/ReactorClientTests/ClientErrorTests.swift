import ReactorWire
import Testing

@testable import ReactorClient

struct ClientErrorTests {
    @Test("every error says what failed, on what, and what to do")
    func texts() {
        let revision = Revision(epoch: 1, sequence: 2)
        let texts: [(ClientError, [String])] = [
            (.unreachable(tried: []), ["no daemon", "no socket path"]),
            (
                .unreachable(tried: [.init(path: "/a", reason: "no such file")]),
                ["no daemon", "/a", "no such file"]
            ),
            (.closed(.busy, "try later"), ["BUSY", "try later"]),
            (
                .refused(Refusal(.notFound, "no node at /a", nearest: "/b")),
                ["NOT_FOUND", "/a", "/b"]
            ),
            (.daemonFault("a frame"), ["protocol", "a frame"]),
            (
                .incompatible(path: "/a", WireError(.missingField("title"), at: 3)),
                ["/a", "title"]
            ),
            (.gone(path: "/a"), ["/a"]),
            (
                .otherHistory(expected: revision, actual: Revision(epoch: 3, sequence: 4)),
                ["\(revision)", "0000000000000003:4"]
            ),
            (.queueFull(bytesMax: 12), ["queueBytesMax", "12"]),
            (.tooLarge(byteCount: 13, bytesMax: 12), ["13", "12", "frameBytesMax"]),
            (.ended, ["closed"]),
            (.cancelled, ["cancelled"]),
            (.forked(pid: 42), ["42", "fork"]),
            (.system("uv_loop_init"), ["uv_loop_init"]),
        ]
        for (error, parts) in texts {
            for part in parts { #expect("\(error)".contains(part), "\(error)") }
        }
    }
}
