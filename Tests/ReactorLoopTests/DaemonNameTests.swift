import ReactorLoop
import Testing

struct DaemonNameTests {
    @Test("a name is a file's name, and the longest one fits into every default path of a socket")
    func names() throws {
        for text in ["a", "tracker-daemon", ".hidden", "日誌", "two words"] {
            #expect(try DaemonName(text).text == text)
        }
        let longest = try DaemonName(String(repeating: "n", count: DaemonName.byteCountMax))
        let candidates = SocketCandidates.list(
            of: longest, environment: ["XDG_RUNTIME_DIR": "/run/user/4294967295"], uid: .max)
        #expect(candidates.count == 3 && candidates.allSatisfy { $0.refusal == nil })
    }

    @Test(
        "a name that leads to another directory, or is too long, is refused with the reason",
        arguments: [
            ("", DaemonNameError.Condition.empty, "empty"), ("a/b", .slash, "slash"),
            ("/", .slash, "slash"), (".", .directory, "directory"), ("..", .directory, "directory"),
            ("a\u{0}", .control, "control"), ("a\n", .control, "control"),
            (String(repeating: "n", count: 43), .tooLong, "43 bytes, expected at most 42"),
        ])
    func refused(_ text: String, _ condition: DaemonNameError.Condition, _ word: String) {
        do throws(DaemonNameError) {
            _ = try DaemonName(text)
            Issue.record("\(text) is a name")
        } catch {
            #expect(error.condition == condition && error.name == text)
            #expect(error.description.contains(word))
            #expect(!error.description.contains("\u{0}") && !error.description.contains("\n"))
        }
    }
}
