import ArgumentParser
import ReactorClient
import ReactorWire

/// The options of `get` and `watch` that select children of a collection.
struct SelectionOptions: ParsableArguments {
    @Option(
        name: .customLong("where"),
        help: ArgumentHelp(
            "Of a collection, show only the children that meet a condition.",
            discussion: """
                For example: 'phase == "running" and (progress > 3 or not (labels.os in ["linux"]))'. \
                A missing value equals null alone.
                """, valueName: "condition"))
    var condition: String?

    @Option(
        name: .long, parsing: .unconditional,
        help: ArgumentHelp(
            "Show the children of a collection in an order.",
            discussion: """
                Fields with commas between them, with - before a field whose greatest values come \
                first; @key is the key. For example: -startedAt,@key.
                """, valueName: "fields"))
    var order: String?

    @Option(
        name: .long,
        help: ArgumentHelp("Show only the first n children of a collection.", valueName: "n"))
    var first: Int?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Show only the children with keys in a range, such as 10..20, 10.. or ..20.",
            valueName: "keys"))
    var keys: String?

    func validate() throws { _ = try selection() }

    /// The selection; nil without any of the options.
    func selection() throws -> Selection? {
        guard condition != nil || order != nil || first != nil || keys != nil else { return nil }
        if let first, first < 1 {
            throw ValidationError("--first \(first): expected 1 or more")
        }
        return Selection(
            keys: try read("--keys", keys, SelectionText.keys),
            filter: try read("--where", condition, SelectionText.condition),
            order: try read("--order", order, SelectionText.order) ?? [],
            first: first.map { UInt64($0) })
    }

    private func read<Part>(
        _ option: String, _ text: String?,
        _ read: (String) throws(SelectionTextError) -> Part
    ) throws -> Part? {
        guard let text else { return nil }
        do throws(SelectionTextError) {
            return try read(text)
        } catch {
            throw ValidationError("\(option): \(error)\n  \(text)\n  \(error.marker)")
        }
    }
}

extension SelectionTextError {
    /// A mark below the faulty character.
    fileprivate var marker: String { String(repeating: " ", count: column - 1) + "^" }
}

extension Selection {
    /// The value of this selection as a person reads it: with an order, a list of the children, each
    /// with its key.
    func shown(_ value: WireValue) -> WireValue {
        guard !order.isEmpty, let names = value[Selection.orderKey]?.arrayValue,
            let children = value[Selection.childrenKey]
        else { return value }
        return .array(
            names.map { name in
                ["key": name, "state": name.textValue.flatMap { children[WireKey($0)] } ?? .null]
            })
    }
}
