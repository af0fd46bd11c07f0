import ReactorClient
import ReactorCore
import ReactorWire

/// The actions of a batch, parsed from lines and checked before one is sent.
///
///     /visits   {"increment":{"by":5}}
///     # a comment
///     /settings {"set":{"key":"theme","value":"dark"}}
///
/// *Shape*: a line has a path, white space, and an action as JSON. Empty lines and lines that begin
/// with `#` are ignored.
struct BatchText {
    /// An action, encoded.
    struct Item {
        /// The number of its line, from 1.
        var line: Int
        /// The index of its path in ``BatchText/paths``.
        var path: Int
        var action: WireEmbedded
    }

    /// The paths of the actions, each once.
    private(set) var paths: [String] = []
    /// The actions, in the order of their lines.
    private(set) var items: [Item] = []

    /// Parses `bytes`, and checks the actions against the descriptions of their reactors, which it
    /// requests from the daemon once for each path.
    ///
    /// *Throws*: for the first invalid line, with its number and column: code 66 for a path without
    /// a reactor, with the nearest one; code 65 for an action that its reactor does not take.
    init(_ bytes: [UInt8], from client: Client) async throws(Failure) {
        var reactors: [String: (index: Int, text: ActionText)] = [:]
        var number = 0
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            number += 1
            guard let line = try BatchLine(line, number: number) else { continue }
            if reactors[line.path] == nil {
                reactors[line.path] = (paths.count, try await line.describe(from: client))
                paths.append(line.path)
            }
            guard let reactor = reactors[line.path] else { continue }
            items.append(
                Item(
                    line: number, path: reactor.index,
                    action: try await line.action(reactor.text)))
        }
    }
}

/// A line of a batch with its columns, which count Unicode scalars from 1.
private struct BatchLine {
    let path: String
    private let json: Substring
    private let number: Int
    private let pathColumn: Int
    private let actionColumn: Int

    /// Divides a line; nil for an empty line and for a comment.
    init?(_ bytes: ArraySlice<UInt8>, number: Int) throws(Failure) {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure(
                Failure.badActionCode, "line \(number): not UTF-8; paths and JSON must be UTF-8")
        }
        let scalars = text.unicodeScalars
        guard let start = scalars.firstIndex(where: { !Self.isSpace($0) }), scalars[start] != "#"
        else { return nil }
        let end = scalars[start...].firstIndex(where: Self.isSpace) ?? scalars.endIndex
        let action = scalars[end...].firstIndex { !Self.isSpace($0) } ?? scalars.endIndex
        path = String(text[start..<end])
        json = text[action...]
        self.number = number
        pathColumn = scalars.distance(from: scalars.startIndex, to: start) + 1
        actionColumn = scalars.distance(from: scalars.startIndex, to: action) + 1
        do throws(SlicePathError) {
            _ = try SlicePath(path)
        } catch {
            throw Failure(Failure.noPathCode, "\(place(pathColumn))expected a path first: \(error)")
        }
        guard action != scalars.endIndex else {
            throw Failure(
                Failure.badActionCode,
                "\(place(actionColumn))expected an action as JSON after the path \(path)")
        }
    }

    private static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
        scalar == " " || scalar == "\t" || scalar == "\r"
    }

    private func place(_ column: Int) -> String { "line \(number), column \(column): " }

    /// Requests the description of the line's reactor.
    func describe(from client: Client) async throws(Failure) -> ActionText {
        do throws(Failure) {
            return try await ActionText(path, from: client)
        } catch {
            throw Failure(error.code, place(pathColumn) + error.text)
        }
    }

    /// Returns the action, checked and encoded.
    func action(_ text: ActionText) async throws(Failure) -> WireEmbedded {
        let value: WireValue
        do throws(JSONError) {
            value = try WireValue(json: Array(json.utf8))
        } catch {
            throw Failure(
                Failure.badActionCode,
                place(actionColumn + error.column - 1)
                    + "the action is not JSON: \(error.condition)")
        }
        return try await text.embed(value, place(actionColumn))
    }
}
