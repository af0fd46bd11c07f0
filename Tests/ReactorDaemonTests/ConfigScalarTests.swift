import Testing

@testable import ReactorDaemon

struct ConfigScalarTests {
    private func scalar(_ yaml: String) throws -> ConfigScalar {
        let document = try ConfigDocument(text: "key: \(yaml)", file: "r.yaml")
        return ConfigScalar(try ConfigSection(document).entries[0], in: document)
    }

    private func refusal(_ read: () throws -> some Any) -> String {
        let problem = #expect(throws: ConfigProblem.self) { _ = try read() }
        return problem?.description ?? ""
    }

    @Test("a value is read as its key's type, quoted or not")
    func reads() throws {
        #expect(try scalar("12").quantity(.count, in: 0...12) == 12)
        #expect(try scalar("'12'").quantity(.count, in: 12...13) == 12)
        #expect(try scalar("2KiB").quantity(.byteSize, in: 0...2_048) == 2_048)
        let second = Duration.zero ... .seconds(1)
        #expect(try scalar("\"3ms\"").quantity(.duration, in: second) == .milliseconds(3))
        #expect(try scalar("a b").text(expected: "words") == "a b")
    }

    @Test("a range includes its bounds; a value beyond is reported with the range")
    func ranges() throws {
        for count in ["13", "0"] {
            #expect(
                refusal { try scalar(count).quantity(.count, in: 1...12) }
                    .hasSuffix("1 to 12, got \"\(count)\""))
        }
        #expect(
            refusal { try scalar("2MB").quantity(.byteSize, in: 1...1 << 20) }
                .hasSuffix("1 to 1MiB, got \"2MB\""))
        #expect(
            refusal { try scalar("2s").quantity(.duration, in: .zero ... .seconds(1)) }
                .hasSuffix("0 to 1s, got \"2s\""))
    }

    @Test("bytes are not read as text, even if they are the bytes of a name")
    func binary() {
        #expect(
            refusal { try scalar("!!binary counter").text(expected: "words") }
                == "r.yaml:1:6: key: expected words, got !!binary data")
        #expect(
            refusal { try scalar("!!binary 12").quantity(.count, in: 0...99) }
                .contains("got !!binary data"))
    }

    @Test("a missing value is reported at the key, any other at the value")
    func places() {
        #expect(
            refusal { try scalar("").text(expected: "words") }
                == "r.yaml:1:1: key: expected words, got nothing")
        #expect(
            refusal { try scalar("[]").text(expected: "words") }
                == "r.yaml:1:6: key: expected words, got a list")
        #expect(
            refusal { try scalar("!x y").text(expected: "words") }
                .hasPrefix("r.yaml:1:6: key: tag \"!x\" has no meaning here"))
    }
}
