import ReactorCore
import ReactorWire

/// A field of the children's own state that a selection reads.
struct SelectionField: Hashable {
    /// Path of the field inside a child's state.
    let path: [WireKey]
    private let form: Form

    /// How values of the field are compared.
    private enum Form: Hashable {
        case bool
        case number
        case text
        case duration
        /// By the position of the case among these names.
        case name([WireKey])
        /// Each value by its own kind.
        case any
        /// Only present values differ from missing ones.
        case presence
    }

    /// Takes the field at `path` of states of the shape `schema`.
    ///
    /// *Throws*: if there is no such field, with the nearest name.
    init(_ path: [WireKey], of schema: WireSchema, at collection: AnyNode) throws(Refusal) {
        self.path = path
        do throws(WireSchema.MissingPart) {
            form = Self.form(of: try schema.part(at: path[...]))
        } catch {
            throw Refusal(
                .path,
                "\(collection.path): \(error.name.text.quoted(bytesMax: 64)) is no field of a child, "
                    + "expected a part of \(error.kind)",
                nearest: NearestName.of(error.name.text, among: error.known))
        }
    }

    private static func form(of schema: WireSchema) -> Form {
        switch schema {
        case .bool: .bool
        case .integer, .float: .number
        case .text: .text
        case .duration: .duration
        case .any, .reference: .any
        case .choice(let choice): .name(choice.cases.map { WireKey($0.name) })
        case .named(let named): form(of: named.schema)
        case .optional(let wrapped): form(of: wrapped)
        case .bytes, .array, .map, .record: .presence
        }
    }

    /// The field as a person writes it.
    var name: String { path.map(\.text).joined(separator: ".") }

    // MARK: Literals

    /// The sort key of a value that the field is compared with.
    func literal(_ value: WireValue, at collection: AnyNode) throws(Refusal) -> SortKey {
        var key = SortKey()
        if append(value, to: &key, bytesMax: .max) { return key }
        throw Refusal(
            .decode,
            "\(collection.path): the field \(name.quoted(bytesMax: 64)) is compared with "
                + "\(expected), got \(value.literalText)",
            nearest: nearest(to: value))
    }

    /// Whether an order of the field's values exists.
    var isOrdered: Bool { form != .presence }

    private var expected: String {
        switch form {
        case .bool: "true, false or null"
        case .number: "a number or null"
        case .text: "text or null"
        case .duration: "a number of seconds or null"
        case .name(let names): "null or one of \(WireSchema.list(names.map(\.text)))"
        case .any: "a number, text, true, false or null"
        case .presence: "null alone, since it is no number, text, bool or name"
        }
    }

    private func nearest(to value: WireValue) -> String? {
        guard case .name(let names) = form, let text = Self.caseName(of: value)?.text else {
            return nil
        }
        return NearestName.of(text, among: names.map(\.text))
    }

    // MARK: Reading

    /// Appends the sort key of the field's value in `child`. *Cost*: encodes the field.
    func append(
        of child: AnyNode, to key: inout SortKey, bytesMax: Int, using writer: inout WireWriter
    ) {
        writer.removeAll()
        let isFound = child.encodeValue(at: path[...], into: &writer) == .found
        let value = isFound ? writer.withBytes { try? WireValue(wireBytes: $0) } : nil
        guard let value else { return key.appendMissing() }
        if form == .presence {
            if value == .null { key.appendMissing() } else { key.append(true) }
        } else if !append(value, to: &key, bytesMax: bytesMax) {
            key.append(encoding: value, bytesMax: bytesMax)
        }
    }

    /// Appends a value of the field's form; returns false for another value.
    private func append(_ value: WireValue, to key: inout SortKey, bytesMax: Int) -> Bool {
        switch (form, value) {
        case (_, .null): key.appendMissing()
        case (.bool, .bool), (.number, .integer), (.number, .float), (.text, .text), (.any, .bool),
            (.any, .integer), (.any, .float), (.any, .text):
            key.append(value, bytesMax: bytesMax)
        case (.duration, _):
            guard let duration = try? value.decoded(as: Duration.self) else { return false }
            key.append(duration)
        case (.name(let names), _):
            guard let name = Self.caseName(of: value), let index = names.firstIndex(of: name) else {
                return false
            }
            key.append(Int128(index))
        default: return false
        }
        return true
    }

    /// The name of a case, from a value of a choice.
    private static func caseName(of value: WireValue) -> WireKey? {
        switch value {
        case .text(let name): WireKey(name)
        case .map(let map): map.count == 1 ? map.first?.key : nil
        default: nil
        }
    }
}

extension WireValue {
    /// The value in an error text.
    fileprivate var literalText: String {
        switch self {
        case .array, .map, .bytes: kind
        default: json().quoted(bytesMax: 64)
        }
    }
}
