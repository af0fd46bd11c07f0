import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

/// Random selections over random fleets and random traffic, compared with a naive evaluation.
@Suite("random selections")
struct SelectionPropertyTests {
    @Test(
        "every watcher of a selection shows what a naive evaluation of it finds",
        arguments: [UInt64](1...12))
    func random(seed: UInt64) throws {
        var run = try SelectionRun(seed: seed)
        for _ in 0..<120 { try run.step() }
        try run.finish()
        #expect(run.patchCount > 40 && run.conflations > 0, "seed \(seed)")
        #expect(run.shownMax > 3 && run.emptyCount < run.comparisons, "seed \(seed)")
    }
}

/// One random run.
private struct SelectionRun {
    let seed: UInt64
    private var random: SeededGenerator
    private let harness: ServerHarness
    private let admiral: Admiral
    private var names: [String] = []
    private var watchers: [Watcher] = []
    private(set) var patchCount = 0
    private(set) var comparisons = 0
    private(set) var emptyCount = 0
    private(set) var shownMax = 0

    private struct Watcher {
        var path: String
        var selection: Selection
        var watcher: PatchedWatcher
        var isStalled = false
    }

    init(seed: UInt64) throws {
        self.seed = seed
        random = SeededGenerator(seed: seed)
        let names = (0..<12).map { "\($0 * 3 - 5)" }
        (harness, admiral) = ServerHarness.fleet(names) { $0.queueBytesMax = 1_000 }
        self.names = names
        for _ in 0..<5 { try watch() }
    }

    var conflations: UInt64 { harness.server.statistics.conflations }

    // MARK: Traffic

    private mutating func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
    private mutating func oneIn(_ count: Int) -> Bool { below(count) == 0 }
    private mutating func pick<Element>(_ all: [Element]) -> Element { all[below(all.count)] }

    private mutating func watch() throws {
        let path = pick(["/ships", "/boats"])
        let selection = makeSelection()
        let watcher = try PatchedWatcher(
            harness, path, patches: !oneIn(4), selecting: selection)
        watchers.append(Watcher(path: path, selection: selection, watcher: watcher))
    }

    mutating func step() throws {
        for _ in 0...below(4) { change() }
        if oneIn(12) {
            let index = below(watchers.count)
            watchers.remove(at: index).watcher.client.disconnect()
            // Subscribes before the changes of the turn are shared.
            try watch()
        }
        if oneIn(5) {
            let index = below(watchers.count)
            watchers[index].isStalled = true
            watchers[index].watcher.client.socket.room = 0
        }
        harness.settle()
        if oneIn(6) { resume() }
        try compare()
    }

    mutating func finish() throws {
        resume()
        try compare()
    }

    private mutating func resume() {
        for index in watchers.indices where watchers[index].isStalled {
            for _ in 0..<4 {
                watchers[index].watcher.client.take()
                harness.settle()
            }
            watchers[index].isStalled = false
        }
    }

    private mutating func change() {
        guard !oneIn(5), !names.isEmpty else {
            var sunk: [String] = []
            for _ in 0..<below(3) where !names.isEmpty {
                let index = below(names.count)
                sunk.append(names.remove(at: index))
            }
            var launched: [String] = []
            for _ in 0..<below(4) where names.count + launched.count < 40 {
                let name = oneIn(3) ? sunk.first ?? "3" : "\(below(60) - 20)"
                if !names.contains(name), !launched.contains(name) { launched.append(name) }
            }
            names += launched
            return admiral.change(sunk: sunk, launched: launched, settles: false)
        }
        let path = "\(pick(["/ships", "/boats"]))/\(pick(names))"
        admiral.order(path, makeAction(), settles: false)
    }

    private mutating func makeAction() -> Ship.Action {
        switch below(10) {
        case 0, 1, 2: .cargo(below(6))
        case 3: .speed(Double(below(8)) / 2)
        case 4: .name(pick(["", "a", "ab", "b", "é", "z"]))
        case 5: .phase(pick([.docked, .sailing(to: "x"), .sunk]))
        case 6: .lost(oneIn(2) ? nil : below(5))
        case 7: .tag(key: pick(["os", "cpu"]), text: oneIn(3) ? nil : pick(["a", "b"]))
        case 8: .extra(pick([.null, true, false, 1, 2, 1.5, "1", "x", [1], [1, 2]]))
        default:
            oneIn(2)
                ? .painted(pick(["grey", "red"])) : .wait(.milliseconds(below(5) * 500 - 500))
        }
    }

    // MARK: Selections

    private static let fields: [[WireKey]] = [
        ["cargo"], ["cargo"], ["speed"], ["name"], ["phase"], ["lost"], ["tags", "os"], ["wait"],
        ["extra"], ["hull", "color"], ["hull", "isNew"],
    ]

    private mutating func makeSelection() -> Selection {
        var selection = Selection()
        if oneIn(4) {
            selection.keys = KeyBounds(
                from: oneIn(2) ? nil : WireKey("\(below(20) - 10)"),
                through: oneIn(2) ? nil : WireKey("\(below(40))"))
        }
        if !oneIn(3) { selection.filter = makeCondition(depth: below(4)) }
        if !oneIn(3) {
            for _ in 0...below(3) {
                selection.order.append(
                    SelectionOrder(
                        field: oneIn(8) ? [] : pick(Self.fields), descending: oneIn(2)))
            }
        }
        if oneIn(2) { selection.first = UInt64(below(6) + 1) }
        return selection
    }

    private mutating func makeCondition(depth: Int) -> SelectionCondition {
        guard depth > 0 else { return makeComparison() }
        let parts = (0...below(2)).map { _ in makeCondition(depth: depth - 1) }
        switch below(3) {
        case 0: return .all(parts)
        case 1: return .any(parts)
        default: return .not(parts[0])
        }
    }

    private mutating func makeComparison() -> SelectionCondition {
        let field = pick(Self.fields)
        if oneIn(4) {
            return .among(field: field, values: (0..<2).map { _ in literal(of: field) })
        }
        let value = literal(of: field)
        let comparison = value == .null ? [.equal, .unequal] : FieldComparison.allCases
        return .compare(field: field, by: pick(comparison), with: value)
    }

    private mutating func literal(of field: [WireKey]) -> WireValue {
        if oneIn(6) { return .null }
        switch field[0].text {
        case "cargo", "lost": return pick([0, 1, 2, 3, 2.5])
        case "speed": return pick([0.5, 1, 1.5, 3])
        case "name": return pick(["a", "ab", "é"])
        case "phase": return pick(["docked", "sunk", ["sailing": ["to": "y"]]])
        case "wait": return pick([0, 0.5, 1, [0, 500_000_000_000_000_000]])
        case "extra": return pick([true, 1, 1.5, "1", "x"])
        case "tags": return pick(["a", "b"])
        default: return field[1] == "isNew" ? .bool(oneIn(2)) : pick(["grey", "red"])
        }
    }

    // MARK: The naive evaluation

    private mutating func compare() throws {
        for index in watchers.indices where !watchers[index].isStalled {
            try watchers[index].watcher.look()
            patchCount += watchers[index].watcher.patches
            let watcher = watchers[index]
            let expected = try NaiveSelection(watcher.selection).value(in: harness, watcher.path)
            let text = try WireValue(encoding: watcher.selection).json()
            #expect(watcher.watcher.value == expected, "seed \(seed): \(watcher.path) \(text)")
            comparisons += 1
            let count = (expected["children"] ?? expected).mapValue?.count ?? 0
            if count == 0 { emptyCount += 1 }
            shownMax = max(shownMax, count)
        }
    }
}

/// Evaluates a selection on the states of all children, without sort keys.
private struct NaiveSelection {
    let selection: Selection

    init(_ selection: Selection) { self.selection = selection }

    /// A value by its kind: nothing, bools, numbers, texts, others.
    private enum Value: Equatable {
        case nothing
        case bool(Bool)
        case number(Double)
        case text([UInt8])
        case other([UInt8])

        var kind: Int {
            switch self {
            case .nothing: 0
            case .bool: 1
            case .number: 2
            case .text: 3
            case .other: 4
            }
        }

        func precedes(_ other: Value) -> Bool {
            switch (self, other) {
            case (.bool(let left), .bool(let right)): !left && right
            case (.number(let left), .number(let right)): left < right
            case (.text(let left), .text(let right)), (.other(let left), .other(let right)):
                left.lexicographicallyPrecedes(right)
            default: kind < other.kind
            }
        }
    }

    private struct Child {
        var name: WireKey
        var key: Value
        var state: Ship.State
    }

    func value(in harness: ServerHarness, _ path: String) throws -> WireValue {
        let whole = try WireValue(wireBytes: harness.value(path))
        let collection = try #require(try harness.server.tree.node(at: SlicePath(path)))
        var found = collection.children.compactMap { name, node -> Child? in
            guard let node = node as? Node<Ship> else { return nil }
            let key: Value =
                path == "/ships" ? .number(Double(name.text) ?? 0) : .text(Array(name.text.utf8))
            let child = Child(name: name, key: key, state: node.state)
            return isSelected(child, isNumbered: path == "/ships") ? child : nil
        }
        found.sort(by: precedes)
        if let first = selection.first { found = Array(found.prefix(Int(first))) }
        let children = try WireMap(
            found.map { WireMap.Pair(key: $0.name, value: try #require(whole[$0.name])) })
        if selection.order.isEmpty { return .map(children) }
        return [
            "order": .array(found.map { .text($0.name.text) }), "children": .map(children),
        ]
    }

    private func isSelected(_ child: Child, isNumbered: Bool) -> Bool {
        func bound(_ key: WireKey) -> Value {
            isNumbered ? .number(Double(key.text) ?? 0) : .text(Array(key.text.utf8))
        }
        if let from = selection.keys?.from, child.key.precedes(bound(from)) { return false }
        if let through = selection.keys?.through, bound(through).precedes(child.key) {
            return false
        }
        return selection.filter.map { holds($0, child) } ?? true
    }

    private func precedes(_ left: Child, _ right: Child) -> Bool {
        for part in selection.order {
            let values = [left, right].map { child in
                part.field.isEmpty ? child.key : read(part.field, child.state)
            }
            if values[0] == values[1] { continue }
            return values[0].precedes(values[1]) != part.descending
        }
        return left.key.precedes(right.key)
    }

    private func holds(_ condition: SelectionCondition, _ child: Child) -> Bool {
        switch condition {
        case .all(let parts): return parts.allSatisfy { holds($0, child) }
        case .any(let parts): return parts.contains { holds($0, child) }
        case .not(let part): return !holds(part, child)
        case .among(let field, let values):
            let value = read(field, child.state)
            return values.contains { literal($0, field) == value }
        case .compare(let field, let comparison, let with):
            let value = read(field, child.state)
            let other = literal(with, field)
            let isComparable = value.kind == other.kind
            switch comparison {
            case .equal: return value == other
            case .unequal: return value != other
            case .less: return isComparable && value.precedes(other)
            case .lessOrEqual: return isComparable && !other.precedes(value)
            case .greater: return isComparable && other.precedes(value)
            case .greaterOrEqual: return isComparable && !value.precedes(other)
            }
        }
    }

    private func literal(_ value: WireValue, _ field: [WireKey]) -> Value {
        switch (field, value) {
        case (_, .null): return .nothing
        case (["phase"], .text(let name)):
            return .number(Self.phases.firstIndex(of: name).map(Double.init) ?? -1)
        case (["phase"], .map): return .number(1)
        case (["wait"], .array): return .number(0.5)
        default: return Self.plain(value)
        }
    }

    private static let phases = ["docked", "sailing", "sunk"]

    private static func plain(_ value: WireValue) -> Value {
        switch value {
        case .null: .nothing
        case .bool(let value): .bool(value)
        case .integer(let value): .number(Double(value.value))
        case .float(let value): .number(value)
        case .text(let value): .text(Array(value.utf8))
        default: .other(value.wireBytes())
        }
    }

    private func read(_ field: [WireKey], _ state: Ship.State) -> Value {
        switch field[0].text {
        case "cargo": return .number(Double(state.cargo))
        case "speed": return .number(state.speed)
        case "name": return .text(Array(state.name.utf8))
        case "phase":
            switch state.phase {
            case .docked: return .number(0)
            case .sailing: return .number(1)
            case .sunk: return .number(2)
            }
        case "lost": return state.lost.map { .number(Double($0)) } ?? .nothing
        case "tags": return state.tags[field[1]].map { .text(Array($0.utf8)) } ?? .nothing
        case "wait": return .number(Double(state.wait / .milliseconds(1)) / 1_000)
        case "extra": return Self.plain(state.extra)
        default:
            return field[1] == "color"
                ? .text(Array(state.hull.color.utf8)) : .bool(state.hull.isNew)
        }
    }
}
