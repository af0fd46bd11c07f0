import Foundation
import ReactorWire
import Testing

/// One block of the golden file of frames: its bytes and their meaning.
struct FrameVector: Sendable, CustomTestStringConvertible {
    var name: String
    var header: [UInt8] = []
    var body: [UInt8] = []
    var means = ""
    var values: [String] = []

    var testDescription: String { name }

    var bytes: [UInt8] { header + body }

    static let all: [FrameVector] = {
        guard
            let url = Bundle.module.url(
                forResource: "frames", withExtension: "txt", subdirectory: "Golden"),
            let text = try? String(contentsOf: url, encoding: .utf8)
        else { preconditionFailure("Golden/frames.txt is not in the test bundle") }
        return parse(text)
    }()

    /// The vector called `name`.
    static func named(_ name: String) throws -> FrameVector {
        try #require(all.first { $0.name == name }, "no vector \(name) in Golden/frames.txt")
    }

    static func parse(_ text: String) -> [FrameVector] {
        var vectors: [FrameVector] = []
        var isBody = false
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let rest = line.dropFirst(7)
            isBody = isBody && line.hasPrefix(" ") || line.hasPrefix("body")
            switch line.prefix(while: { $0 != " " }) {
            case "==":
                let name = line.dropFirst(3).prefix(while: { $0 != ":" })
                vectors.append(FrameVector(name: String(name)))
            case "header": vectors[vectors.count - 1].header = [UInt8](hex: String(rest))
            case "means": vectors[vectors.count - 1].means = String(rest)
            case "value": vectors[vectors.count - 1].values.append(String(rest))
            default:
                precondition(isBody, "Golden/frames.txt: what is \"\(line)\"?")
                vectors[vectors.count - 1].body += [UInt8](hex: String(rest))
            }
        }
        return vectors
    }
}

extension FrameVector {
    /// The header described by ``means``, for a body of this length.
    func expectedHeader() throws -> FrameHeader {
        guard case .map(let fields) = try WireValue(json: means),
            case .text(let kindName)? = fields["kind"], case .array(let flags)? = fields["flags"],
            case .integer(let id)? = fields["id"], case .integer(let number)? = fields["number"]
        else { throw VectorProblem(text: "\(name): means is not {kind,flags,id,number}") }
        let kind = try #require(FrameKind.allCases.first { "\($0)" == kindName })
        var all: FrameFlags = []
        for flag in flags { all.insert(try Self.flag(flag)) }
        return FrameHeader(
            length: UInt32(body.count), kind: kind, flags: all, id: UInt32(id.magnitude),
            number: number.magnitude)
    }

    private static func flag(_ value: WireValue) throws -> FrameFlags {
        guard case .text(let name) = value, let flag = FrameFlags.byName[name] else {
            throw VectorProblem(text: "\(value) is no flag")
        }
        return flag
    }

    /// The body joined with the preceding parts that have the flag `more`.
    func joinedBody() throws -> [UInt8] {
        let index = try #require(Self.all.firstIndex { $0.name == name })
        guard index > 0 else { return body }
        let before = Self.all[index - 1]
        guard try before.expectedHeader().flags.contains(.more) else { return body }
        return try before.joinedBody() + body
    }
}

extension FrameFlags {
    static let byName: [String: FrameFlags] = [
        "more": .more, "fresh": .fresh, "absent": .absent, "options": .options,
        "structural": .structural, "patch": .patch, "awaited": .awaited,
    ]
}

/// An error in the golden file.
struct VectorProblem: Error {
    var text: String
}
