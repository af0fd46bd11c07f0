import Foundation
import ReactorWire
import Testing

/// Checks the parts of the wire format's article that a test can read.
@Suite("The article on the wire format")
struct WireFormatArticleTests {
    static let article: String = {
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let file = root.appending(path: "Sources/ReactorWire/ReactorWire.docc/WireFormat.md")
        guard let text = try? String(contentsOf: file, encoding: .utf8) else {
            preconditionFailure("\(file.path()) cannot be read")
        }
        return text
    }()

    /// The frames in the article's examples: the vector's name and the bytes.
    static var examples: [(name: String, hex: String)] {
        var found: [(name: String, hex: String)] = []
        var isExample = false
        for line in article.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("```") {
                isExample = line == "```frames"
            } else if isExample, line.hasPrefix("> ") || line.hasPrefix("< ") {
                found.append((String(line.dropFirst(2)), ""))
            } else if isExample {
                found[found.count - 1].hex += line.filter { $0 != " " }
            }
        }
        return found
    }

    @Test("every example has the bytes of its golden vector")
    func examples() throws {
        let examples = Self.examples
        #expect(examples.count >= 10)
        for example in examples {
            let vector = try FrameVector.named(example.name)
            #expect(example.hex == vector.bytes.hex, "\(example.name)")
        }
    }

    /// The numbers in the tables' first cells, by the name in the second cell.
    private static var numbers: [String: UInt8] {
        var numbers: [String: UInt8] = [:]
        for line in article.split(separator: "\n") where line.hasPrefix("| 0x") {
            let cells = line.split(separator: "|").map {
                $0.filter { $0 != " " && $0 != "`" }
            }
            numbers[cells[1]] = UInt8(cells[0].dropFirst(2), radix: 16)
        }
        return numbers
    }

    @Test("the article lists every kind and every flag with its number, and no other")
    func kindsAndFlags() {
        var expected: [String: UInt8] = [:]
        for kind in FrameKind.allCases { expected["\(kind)"] = kind.rawValue }
        for (name, flag) in FrameFlags.byName { expected[name] = flag.rawValue }
        #expect(Self.numbers == expected)
    }

    @Test("each kind is listed under its sender")
    func directions() throws {
        let parts = Self.article.components(separatedBy: "\nFrom the ")
        #expect(parts.count == 3)
        for kind in FrameKind.allCases {
            let part = kind.rawValue < 0x40 ? parts[1] : parts[2]
            #expect(part.contains("| `\(kind)` |"), "\(kind)")
        }
    }

    @Test("the article lists every code of the system")
    func codes() {
        let codes: [FaultCode] = [
            .framing, .state, .version, .timeout, .busy, .draining, .cut, .kicked, .sessionBusy,
            .decode, .notFound, .path, .quota, .ordinal, .conflict, .deadline, .loop, .deferred,
            .effectsLost, .tooLarge, .diskFull, .memoryFull, .elsewhere,
        ]
        for code in codes { #expect(Self.article.contains("\n| \(code) |"), "\(code)") }
    }

    @Test("the article's limits equal the code's")
    func limits() {
        let article = Self.article.split { " \n".contains($0) }.joined(separator: " ")
        #expect(article.contains("at most \(WireLimits.actionDepthMax) deep in an action"))
        #expect(article.contains("at least \(WireLimits.depthMax) levels"))
        #expect(article.contains("at most 4,096 bytes before decoding and 64 components"))
        #expect(WireLimits.pathBytesMax == 4_096)
        #expect(WireLimits.pathComponentsMax == 64)
        #expect(WireLimits.frameBytesMax == 1 << 20)
        #expect(article.contains("The version is \(Hello.version)."))
    }
}
