import ReactorWire
import Testing

@testable import ReactorClient

struct ClientErrorTests {
    @Test("every error names the failure, its subject and a remedy")
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
            (.unanswered("no welcome"), ["did not answer", "no welcome"]),
            (
                .otherReactor(path: "/a", expected: "Stats", actual: "Map"),
                ["Stats", "/a", "Map"]
            ),
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

    @Test("a daemon's text cannot control the terminal that shows the error")
    func escapes() {
        let hostile = "a\u{1b}[2Jb\u{9b}31mc\rd\u{202e}e\nf\u{7f}"
        let errors: [ClientError] = [
            .closed(.busy, hostile), .refused(Refusal(.notFound, hostile, nearest: hostile)),
            .daemonFault(hostile), .unanswered(hostile), .gone(path: hostile),
            .otherReactor(path: hostile, expected: "A", actual: hostile),
        ]
        for error in errors {
            let text = "\(error)"
            #expect(text.contains(#"a\u{1b}[2Jb\u{9b}31mc\u{d}d\u{202e}e\u{a}f\u{7f}"#), "\(text)")
            #expect(!text.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x9b })
        }
    }
}
