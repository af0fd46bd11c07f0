import ReactorCore
import ReactorWire

/// The children of a collection that a selection shows, kept up to date change by change.
///
/// *Place*: a ``Slice`` has one if it shows a selection, and passes it every change of the
/// collection. *Shape*: all selected children are kept in order, so that a child that leaves the
/// first ones has a successor. *Cost*: a change costs the encoding of the fields that the selection
/// reads, and O(log n) comparisons; a change of other fields costs neither.
struct SelectedChildren {
    private let bound: BoundSelection
    private var ranked: RankedChildren
    /// The sort keys of all selected children.
    private var keys: [WireKey: SortKey]
    /// Number of shown children.
    private(set) var shownCount: Int
    /// Whether the changes before the first value were dropped.
    private var isSettled = false

    /// Selects among the present children. *Cost*: O(children).
    init(_ bound: BoundSelection, of collection: AnyNode) {
        self.bound = bound
        (keys, ranked) = Self.select(bound, collection)
        shownCount = min(ranked.count, bound.countMax)
    }

    private static func select(
        _ bound: BoundSelection, _ collection: AnyNode
    ) -> (keys: [WireKey: SortKey], ranked: RankedChildren) {
        var keys: [WireKey: SortKey] = [:]
        for (name, child) in collection.children {
            keys[name] = bound.sortKey(of: child, name)
        }
        return (keys, RankedChildren(keys.map { RankedChildren.Entry(key: $1, name: $0) }))
    }

    /// Approximate bytes of memory.
    var byteCount: Int { ranked.byteCount }

    /// The shown children, in order.
    var shown: [WireKey] { ranked.prefix(shownCount) }

    /// Drops the children's recorded changes before the first value: its receivers have them.
    mutating func settle(_ collection: AnyNode) {
        if !isSettled { collection.settleChanges() }
        isSettled = true
    }

    private func isShown(_ name: WireKey) -> Bool {
        guard let key = keys[name] else { return false }
        return shownCount == ranked.count || ranked.position(of: key) < shownCount
    }

    /// Checks the invariants, in debug builds.
    @inline(__always)
    private func invariants() {
        assert(keys.count == ranked.count, "\(keys.count) keys of \(ranked.count) children")
        assert(shownCount == min(ranked.count, bound.countMax), "\(shownCount) children are shown")
    }
}

// MARK: - Values
extension SelectedChildren {
    /// Appends the value that the selection shows.
    func encode(of collection: AnyNode, into writer: inout WireWriter) {
        Self.encode(shown, isOrdered: bound.isOrdered, into: &writer) { name, writer in
            _ = collection.encodeValue(at: [name], into: &writer)
        }
    }

    /// Captures the value that the selection shows, to be encoded on any thread.
    func capture(of collection: AnyNode) -> SliceCapture {
        let (shown, isOrdered) = (shown, bound.isOrdered)
        let children = Dictionary(
            uniqueKeysWithValues: shown.map { ($0, collection.captureValue(at: [$0])) })
        return SliceCapture { writer in
            Self.encode(shown, isOrdered: isOrdered, into: &writer) { name, writer in
                _ = children[name]?.encode(into: &writer)
            }
            return .found
        }
    }

    private static func encode(
        _ shown: [WireKey], isOrdered: Bool, into writer: inout WireWriter,
        child: (WireKey, inout WireWriter) -> Void
    ) {
        if isOrdered {
            writer.map(count: 2)
            writer.text(Selection.orderKey.text)
            writer.array(count: shown.count)
            for name in shown { writer.text(name.text) }
            writer.text(Selection.childrenKey.text)
        }
        writer.map(count: shown.count)
        for name in shown.sorted() {
            writer.text(name.text)
            child(name, &writer)
        }
    }
}

// MARK: - Changes
extension SelectedChildren {
    /// What a turn changed of a selection's value.
    struct Update {
        /// Children that are shown and were not.
        fileprivate(set) var entered: Set<WireKey> = []
        /// Children that were shown and are not.
        fileprivate(set) var left: Set<WireKey> = []
        /// Removals and insertions in the order, one after another.
        fileprivate(set) var steps: [Step] = []
        /// Changed places, paths from the collection, in children that stay.
        fileprivate(set) var places: [[WireKey]] = []
        fileprivate let isOrdered: Bool

        fileprivate var isEmpty: Bool {
            entered.isEmpty && left.isEmpty && steps.isEmpty && places.isEmpty
        }

        fileprivate mutating func remove(_ name: WireKey, at position: Int) {
            steps.append(Step(position: position, name: nil))
            if entered.remove(name) == nil { left.insert(name) }
        }

        fileprivate mutating func insert(_ name: WireKey, at position: Int) {
            steps.append(Step(position: position, name: name))
            if left.remove(name) == nil { entered.insert(name) }
        }
    }

    /// An insertion of a child in the order or, without a name, a removal.
    struct Step: Equatable {
        var position: Int
        var name: WireKey?
    }

    /// The changed places of one child, paths from the collection.
    private struct Touched {
        var name: WireKey
        var places: [[WireKey]] = []
        /// Whether the child came, left or was replaced.
        var isWhole = false
    }

    /// Selects again from scratch. *Cost*: O(children).
    mutating func reselect(of collection: AnyNode) {
        (keys, ranked) = Self.select(bound, collection)
        shownCount = min(ranked.count, bound.countMax)
    }

    /// Takes the places, paths from the collection of a child's key or more, that a turn may have
    /// changed. Returns the changes of the value; `nil` if there are none.
    mutating func update(_ places: [[WireKey]], of collection: AnyNode) -> Update? {
        defer { invariants() }
        let touched = Self.group(places)
        var update = Update(isOrdered: bound.isOrdered)
        move(touched, of: collection, &update)
        for child in touched where isShown(child.name) && !update.entered.contains(child.name) {
            update.places += child.isWhole ? [[child.name]] : child.places
        }
        return update.isEmpty ? nil : update
    }

    private static func group(_ places: [[WireKey]]) -> [Touched] {
        var touched: [Touched] = []
        var indices: [WireKey: Int] = [:]
        for place in places {
            guard let name = place.first else { continue }
            let index = indices[name] ?? touched.count
            if index == touched.count {
                touched.append(Touched(name: name))
                indices[name] = index
            }
            if place.count == 1 {
                touched[index].isWhole = true
            } else if !touched[index].places.contains(place) {
                touched[index].places.append(place)
            }
        }
        return touched
    }

    /// Moves the touched children to their places in the order.
    private mutating func move(
        _ touched: [Touched], of collection: AnyNode, _ update: inout Update
    ) {
        var moved: [RankedChildren.Entry] = []
        for child in touched
        where child.isWhole || child.places.contains(where: { bound.reads($0.dropFirst()) }) {
            let name = child.name
            let old = keys[name]
            let new = collection.children[name].flatMap { bound.sortKey(of: $0, name) }
            if old == new { continue }
            keys[name] = new
            if let old {
                if let new, ranked.change(old, to: new) { continue }
                let position = ranked.remove(old)
                if position < shownCount {
                    shownCount -= 1
                    update.remove(name, at: position)
                }
            }
            if let new { moved.append(RankedChildren.Entry(key: new, name: name)) }
        }
        for entry in moved { insert(entry, &update) }
        while shownCount < min(ranked.count, bound.countMax) {
            update.insert(ranked[shownCount].name, at: shownCount)
            shownCount += 1
        }
    }

    private mutating func insert(_ entry: RankedChildren.Entry, _ update: inout Update) {
        let position = ranked.insert(entry)
        guard position < shownCount || position == shownCount && shownCount < bound.countMax else {
            return
        }
        update.insert(entry.name, at: position)
        guard shownCount == bound.countMax else {
            shownCount += 1
            return
        }
        update.remove(ranked[shownCount].name, at: shownCount)
    }
}

// MARK: - Patches
extension SelectedChildren.Update {
    /// The patch of the selection's value.
    func patch(of collection: AnyNode) -> [UInt8] {
        var patch = PatchWriter()
        let prefix = isOrdered ? [Selection.childrenKey] : []
        for name in left.sorted() { patch.append((prefix + [name])[...]) { _ in .absent } }
        for place in entered.sorted().map({ [$0] }) + places {
            patch.append((prefix + place)[...]) { writer in
                collection.encodeValue(at: place[...], into: &writer)
            }
        }
        guard isOrdered else { return patch.bytes }
        for step in steps {
            patch.append([Selection.orderKey, WireKey(String(step.position))]) { writer in
                guard let name = step.name else { return .absent }
                writer.text(name.text)
                return .found
            }
        }
        return patch.bytes
    }
}
