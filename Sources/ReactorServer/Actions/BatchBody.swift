import ReactorBytes
import ReactorCore
import ReactorWire

/// Reads the body of a batch: an array of pairs of a node's number and an action.
enum BatchBody {
    /// One action of a batch.
    struct Part {
        /// The client's number for the node.
        var id: UInt64
        /// The bytes of the action.
        var range: Range<Int>
    }

    /// Returns the parts of the batch that starts at `offset`.
    ///
    /// *Throws*: if the body is malformed, or has more than `countMax` parts.
    static func parts(
        _ body: Span<UInt8>, from offset: Int, countMax: Int
    ) throws(WireError) -> [Part] {
        var parts: [Part] = []
        var cursor = WireCursor(offset: offset)
        var list = try cursor.openArray(in: body)
        while try cursor.nextElement(in: body, &list) {
            guard parts.count < countMax else {
                throw WireError(
                    .refused("more than batchActionsMax \(countMax) actions"), at: cursor.offset)
            }
            do throws(WireError) {
                parts.append(try part(body, &cursor))
            } catch {
                throw error.inside("\(parts.count)")
            }
        }
        guard cursor.offset == body.count else {
            throw WireError(.trailingBytes(body.count - cursor.offset), at: cursor.offset)
        }
        return parts
    }

    private static func part(
        _ body: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> Part {
        var pair = try cursor.openArray(in: body)
        guard try cursor.nextElement(in: body, &pair) else {
            throw WireError(.missingField("id"), at: cursor.offset)
        }
        let id = try cursor.unsigned(in: body)
        guard try cursor.nextElement(in: body, &pair) else {
            throw WireError(.missingField("action"), at: cursor.offset)
        }
        let start = cursor.offset
        try cursor.skip(in: body)
        let range = start..<cursor.offset
        guard try !cursor.nextElement(in: body, &pair) else {
            throw WireError(.refused("more than id and action"), at: cursor.offset)
        }
        return Part(id: id, range: range)
    }

    /// The connection's open nodes that a batch names, each once. For a malformed batch, those
    /// named before the malformed part. With `isComplete`, also the numbers that name no open node.
    static func aliases(
        _ body: Span<UInt8>, hasOptions: Bool, of connection: Connection, isComplete: Bool = false
    ) -> [NodeAlias] {
        var aliases: [NodeAlias] = []
        var seen: Set<UInt64> = []
        do throws(WireError) {
            var cursor = WireCursor()
            if hasOptions { try cursor.skip(in: body) }
            var list = try cursor.openArray(in: body)
            while try cursor.nextElement(in: body, &list) {
                var pair = try cursor.openArray(in: body)
                guard try cursor.nextElement(in: body, &pair) else { break }
                let id = try cursor.unsigned(in: body)
                let name = UInt32(clamping: id)
                let node =
                    connection.openNode(name)?.number ?? (isComplete ? NodeAlias.noNode : nil)
                if seen.insert(id).inserted, let node {
                    aliases.append(NodeAlias(id: name, node: node))
                }
                while try cursor.nextElement(in: body, &pair) { try cursor.skip(in: body) }
            }
        } catch {
            // The daemon refuses the batch, so the nodes it names further on do not matter.
            return aliases
        }
        return aliases
    }
}
