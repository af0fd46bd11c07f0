import ReactorCore
import ReactorWire

/// A selection that was checked against its collection: which children it selects, and in which
/// order.
///
/// *Place*: ``SelectedChildren`` asks it about each child that changed.
struct BoundSelection {
    let selection: Selection
    private var fields: [SelectionField] = []
    private var filter: Condition?
    private var order: [Part] = []
    private let hasIntegerKeys: Bool
    private var lowest: SortKey?
    private var highest: SortKey?

    /// A condition with its fields by their indices.
    private indirect enum Condition {
        case all([Condition])
        case any([Condition])
        case not(Condition)
        case compare(field: Int, FieldComparison, SortKey)
        case among(field: Int, Set<SortKey>)
    }

    /// A part of the order; without a field, the key.
    private struct Part {
        var field: Int?
        var isDescending: Bool
    }

    /// Checks a selection of the children of `collection`.
    ///
    /// *Throws*: ``Refusal`` that names the field, the value or the limit.
    init(_ selection: Selection, of collection: AnyNode) throws(Refusal) {
        self.selection = selection
        hasIntegerKeys = collection.hasIntegerKeys
        guard let schema = collection.childSchema else {
            throw Refusal(
                .path,
                "\(collection.path) is no collection, and only a collection has children to "
                    + "select: name one, or subscribe without a selection")
        }
        try Self.checkLimits(of: selection, at: collection)
        lowest = try bound(selection.keys?.from, at: collection)
        highest = try bound(selection.keys?.through, at: collection)
        if let filter = selection.filter {
            self.filter = try bind(filter, schema, collection)
        }
        for part in selection.order {
            let field = part.field.isEmpty ? nil : try index(of: part.field, schema, collection)
            if let field, !fields[field].isOrdered {
                throw Refusal(
                    .path,
                    "\(collection.path): the field \(fields[field].name.quoted(bytesMax: 64)) has no "
                        + "order, since it is no number, text, bool or name: order by a part of it")
            }
            order.append(Part(field: field, isDescending: part.descending))
        }
    }

    /// Whether the selection has an order, which its value then shows.
    var isOrdered: Bool { !order.isEmpty }

    /// Maximum number of shown children.
    var countMax: Int { selection.first.map { Int(clamping: $0) } ?? .max }

    /// Whether the selection reads a part of a child that a change at `place`, a path inside the
    /// child, may change.
    func reads(_ place: some Collection<WireKey>) -> Bool {
        fields.contains { zip($0.path, place).allSatisfy { $0 == $1 } }
    }
}

// MARK: - Checking
extension BoundSelection {
    private static func checkLimits(
        of selection: Selection, at collection: AnyNode
    ) throws(Refusal) {
        func check(_ count: Int, _ max: Int, _ name: String, _ what: String) throws(Refusal) {
            guard count > max else { return }
            throw Refusal(
                .tooLarge, "\(collection.path): \(count) \(what) of a selection, \(name) is \(max)")
        }
        let depth = selection.filter?.depth ?? 0
        try check(depth, WireLimits.selectionDepthMax, "selectionDepthMax", "levels")
        let terms = selection.filter?.termCount ?? 0
        try check(terms, WireLimits.selectionTermsMax, "selectionTermsMax", "conditions and values")
        try check(
            selection.order.count, WireLimits.selectionOrdersMax, "selectionOrdersMax",
            "parts of the order")
        guard let first = selection.first else { return }
        try check(
            Int(clamping: first), WireLimits.selectionFirstMax, "selectionFirstMax", "children")
        guard first > 0 else {
            throw Refusal(
                .decode,
                "\(collection.path): a selection of the first 0 children: expected 1 or more")
        }
    }

    private func bound(_ key: WireKey?, at collection: AnyNode) throws(Refusal) -> SortKey? {
        guard let key else { return nil }
        if hasIntegerKeys, Self.integer(key) == nil {
            throw Refusal(
                .decode,
                "\(collection.path): the keys of this collection are integers, and the bound "
                    + "\(key.text.quoted(bytesMax: 64)) is none")
        }
        return sortKey(of: key)
    }

    private mutating func index(
        of path: [WireKey], _ schema: WireSchema, _ collection: AnyNode
    ) throws(Refusal) -> Int {
        guard !path.isEmpty else {
            throw Refusal(
                .decode, "\(collection.path): a condition has an empty path, expected a field")
        }
        if let known = fields.firstIndex(where: { $0.path == path }) { return known }
        fields.append(try SelectionField(path, of: schema, at: collection))
        return fields.count - 1
    }

    private mutating func bind(
        _ condition: SelectionCondition, _ schema: WireSchema, _ collection: AnyNode
    ) throws(Refusal) -> Condition {
        switch condition {
        case .all(let parts): return .all(try bind(parts, schema, collection))
        case .any(let parts): return .any(try bind(parts, schema, collection))
        case .not(let part): return .not(try bind(part, schema, collection))
        case .compare(let path, let comparison, let value):
            let field = try index(of: path, schema, collection)
            let literal = try fields[field].literal(value, at: collection)
            if value == .null, comparison != .equal, comparison != .unequal {
                throw Refusal(
                    .decode,
                    "\(collection.path): the field \(fields[field].name.quoted(bytesMax: 64)) cannot "
                        + "be less or greater than null, which is compared with == and !=")
            }
            return .compare(field: field, comparison, literal)
        case .among(let path, let values):
            let field = try index(of: path, schema, collection)
            var keys: Set<SortKey> = []
            for value in values { keys.insert(try fields[field].literal(value, at: collection)) }
            return .among(field: field, keys)
        }
    }

    private mutating func bind(
        _ parts: [SelectionCondition], _ schema: WireSchema, _ collection: AnyNode
    ) throws(Refusal) -> [Condition] {
        var bound: [Condition] = []
        for part in parts { bound.append(try bind(part, schema, collection)) }
        return bound
    }
}

// MARK: - Children
extension BoundSelection {
    /// The place of a child in the order of all selected children; `nil` if it is not selected.
    ///
    /// *Cost*: encodes the fields that the selection reads, and no other part of the child.
    func sortKey(of child: AnyNode, _ name: WireKey) -> SortKey? {
        let key = sortKey(of: name)
        if let lowest, key < lowest { return nil }
        if let highest, highest < key { return nil }
        if fields.isEmpty, order.isEmpty { return key }
        var reader = FieldReader(child: child, fields: fields)
        if let filter, !holds(filter, &reader) { return nil }
        var place = SortKey()
        for part in order {
            let start = place.bytes.count
            if let field = part.field {
                reader.append(field, to: &place)
            } else {
                place.append(key)
            }
            if part.isDescending { place.reverse(from: start) }
        }
        place.append(key)
        return place
    }

    /// The order of keys: integers by their values, texts by their bytes.
    private func sortKey(of name: WireKey) -> SortKey {
        var key = SortKey()
        if hasIntegerKeys, let integer = Self.integer(name) {
            key.append(integer)
        } else {
            key.append(name.text)
        }
        return key
    }

    /// An integer of a type that can be a key.
    private static func integer(_ key: WireKey) -> Int128? {
        Int128(key.text).flatMap { WireInteger(exactly: $0)?.value }
    }

    private func holds(_ condition: Condition, _ reader: inout FieldReader) -> Bool {
        switch condition {
        case .all(let parts):
            for part in parts where !holds(part, &reader) { return false }
            return true
        case .any(let parts):
            for part in parts where holds(part, &reader) { return true }
            return false
        case .not(let part): return !holds(part, &reader)
        case .among(let field, let values): return values.contains(reader.value(field))
        case .compare(let field, let comparison, let literal):
            let value = reader.value(field)
            switch comparison {
            case .equal: return value == literal
            case .unequal: return value != literal
            case .less: return value.isComparable(to: literal) && value < literal
            case .lessOrEqual: return value.isComparable(to: literal) && value <= literal
            case .greater: return value.isComparable(to: literal) && value > literal
            case .greaterOrEqual: return value.isComparable(to: literal) && value >= literal
            }
        }
    }
}

/// Reads the fields of one child, each of a condition once.
private struct FieldReader: ~Copyable {
    let child: AnyNode
    let fields: [SelectionField]
    private var values: [SortKey?]
    private var writer = WireWriter(capacity: 64)

    init(child: AnyNode, fields: [SelectionField]) {
        self.child = child
        self.fields = fields
        values = Array(repeating: nil, count: fields.count)
    }

    /// The field's value, as conditions compare it.
    mutating func value(_ field: Int) -> SortKey {
        if let known = values[field] { return known }
        var key = SortKey()
        fields[field].append(of: child, to: &key, bytesMax: .max, using: &writer)
        values[field] = key
        return key
    }

    /// Appends the field's value, as an order compares it.
    mutating func append(_ field: Int, to key: inout SortKey) {
        fields[field].append(
            of: child, to: &key, bytesMax: SortKey.orderedBytesMax, using: &writer)
    }
}
