import ReactorWire

/// The value slices of one node, indexed by their fields.
///
/// Slices are distinguished by the first two components of their fields: a field of the state and a
/// key inside it, or a child and its state. So a change of one key affects only the slices of that
/// key and those of the whole map. Each slice is in exactly one place; there are no other
/// invariants.
struct SliceIndex {
    /// The slice of the whole node.
    private var whole: Slice?
    private var byName: [WireKey: Named] = [:]
    /// The slices of selections of the node's children.
    private(set) var selecting: [Slice] = []
    /// The slices that show a class of callers what it may read.
    private var views: [Slice] = []

    /// The slices below one name.
    private struct Named {
        /// The slice of the name itself.
        var own: Slice?
        /// The slices further below, by the second component.
        var byKey: [WireKey: [Slice]] = [:]

        var isEmpty: Bool { own == nil && byKey.isEmpty }
    }

    var isEmpty: Bool {
        whole == nil && byName.isEmpty && selecting.isEmpty && views.isEmpty
    }

    /// All slices.
    var all: [Slice] { slices(showing: []) }

    /// The slice of exactly `field`.
    func slice(at field: ArraySlice<WireKey>) -> Slice? {
        guard let name = field.first else { return whole }
        guard let key = field.dropFirst().first else { return byName[name]?.own }
        return byName[name]?.byKey[key]?.first { $0.field == field }
    }

    /// The slice of exactly this selection.
    ///
    /// *Cost*: O(selections).
    func slice(of selection: Selection) -> Slice? {
        selecting.first { $0.selection?.selection == selection }
    }

    /// The slice of exactly `field` for a class of callers.
    ///
    /// *Cost*: O(slices for classes).
    func slice(at field: ArraySlice<WireKey>, for view: AccessClass) -> Slice? {
        views.first { $0.field == field && $0.view == view }
    }

    mutating func insert(_ slice: Slice) {
        guard slice.view == nil else { return views.append(slice) }
        guard slice.selection == nil else { return selecting.append(slice) }
        guard let name = slice.field.first else {
            whole = slice
            return
        }
        if let key = slice.field.dropFirst().first {
            byName[name, default: Named()].byKey[key, default: []].append(slice)
        } else {
            byName[name, default: Named()].own = slice
        }
    }

    mutating func remove(_ slice: Slice) {
        guard slice.view == nil else { return views.removeAll { $0 === slice } }
        guard slice.selection == nil else { return selecting.removeAll { $0 === slice } }
        guard let name = slice.field.first else {
            whole = nil
            return
        }
        if let key = slice.field.dropFirst().first {
            byName[name]?.byKey[key]?.removeAll { $0 === slice }
            if byName[name]?.byKey[key]?.isEmpty ?? false { byName[name]?.byKey[key] = nil }
        } else {
            byName[name]?.own = nil
        }
        if byName[name]?.isEmpty ?? false { byName[name] = nil }
    }

    /// The slices that may change when the value at `place` changes: those above it, at it, and
    /// below it.
    func slices(showing place: [WireKey]) -> [Slice] {
        var found: [Slice] = whole.map { [$0] } ?? []
        found += selecting
        found += views.filter { zip($0.field, place).allSatisfy { $0 == $1 } }
        guard let name = place.first else {
            for named in byName.values { Self.collect(named, into: &found) }
            return found
        }
        guard let named = byName[name] else { return found }
        guard place.count > 1 else {
            Self.collect(named, into: &found)
            return found
        }
        if let own = named.own { found.append(own) }
        for slice in named.byKey[place[1]] ?? []
        where zip(slice.field, place).allSatisfy({ $0 == $1 }) {
            found.append(slice)
        }
        return found
    }

    private static func collect(_ named: Named, into found: inout [Slice]) {
        if let own = named.own { found.append(own) }
        for slices in named.byKey.values { found += slices }
    }
}
