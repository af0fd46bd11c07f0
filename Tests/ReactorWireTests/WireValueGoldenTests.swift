import Foundation
import ReactorWire
import Testing

/// The examples of the article "Values", from the golden file.
@Suite("The forms of values")
struct WireValueGoldenTests {
    private struct Example {
        var bytes: [UInt8]
        var json: String
    }

    private static func examples() throws -> [String: Example] {
        let url = try #require(
            Bundle.module.url(forResource: "values", withExtension: "txt", subdirectory: "Golden"))
        let lines = try String(contentsOf: url, encoding: .utf8)
            .split(separator: "\n").filter { !$0.hasPrefix("#") }
            .map { $0.split(separator: " ", maxSplits: 2).map(String.init) }
        return Dictionary(
            uniqueKeysWithValues: lines.map {
                ($0[0], Example(bytes: [UInt8](hex: $0[1]), json: $0[2]))
            })
    }

    @Test("the article's examples are encoded as shown, and decode")
    func values() throws {
        let examples = try Self.examples()
        #expect(examples.count == 18)
        for (name, example) in examples {
            let value = try WireValue(json: example.json)
            #expect(value.wireBytes().hex == example.bytes.hex, "\(name)")
            #expect(try WireValue(wireBytes: example.bytes) == value, "\(name)")
        }
    }

    @Test("types are encoded in the article's forms")
    func types() throws {
        let examples = try Self.examples()
        func check(
            _ name: String, _ value: some WireCodable,
            sourceLocation: SourceLocation = #_sourceLocation
        ) {
            #expect(value.wireBytes() == examples[name]?.bytes, sourceLocation: sourceLocation)
        }
        check("integer", 500)
        check("negative", -1)
        check("half", Float(1.5))
        check("double", 0.1)
        check("nan", Float.nan)
        check("text", "IETF")
        check("bytes", [1, 2] as [UInt8])
        check("keyOrder", ["b": 1, "aa": 2, "a": 3])
        check("record", Item(qty: 2, name: "nut"))
        check("choiceNone", Action.reset)
        check("choiceSingle", Action.add(5))
        check("choiceTuple", Action.move(1, 2))
        check("choiceRecord", Action.increment(by: 5))
        check("durationWhole", Duration.seconds(5))
        check("durationParts", Duration.milliseconds(1500))
        check("schemaPlain", WireSchema.text)
        check("schemaInteger", UInt8.wireSchema)
    }

    @WireCodable
    struct Item {
        var qty: Int
        var name: String
    }

    @WireCodable
    enum Action {
        case reset
        case add(Int)
        case move(Int, Int)
        case increment(by: Int)
    }
}
