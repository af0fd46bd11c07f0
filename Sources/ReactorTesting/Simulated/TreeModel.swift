import ReactorCore

/// The paths of collections, with `*` for any name.
struct PathPattern {
    private let names: [WireKey]

    /// Reads a pattern; nil if it is no path.
    init?(_ text: String) {
        guard let path = try? SlicePath(text) else { return nil }
        names = path.components
    }

    /// The pattern of these names.
    init(_ names: [WireKey]) { self.names = names }

    /// Whether `path` is that of a child of a collection that matches.
    func matchesChild(_ path: SlicePath) -> Bool {
        path.components.count == names.count + 1
            && zip(names, path.components).allSatisfy { $0 == "*" || $0 == $1 }
    }

    /// The path up to the first `*`, which the daemon can look up.
    var fixed: SlicePath { SlicePath(Array(names.prefix { $0 != "*" })) }

    /// The children with their composed values, of the collections in `value`, which is that of
    /// ``fixed``; in the order of their paths.
    func children(in value: WireValue) -> [(path: SlicePath, value: WireValue)] {
        var found = [(path: fixed, value: value)]
        for name in names.dropFirst(fixed.components.count) + ["*"] {
            found = found.flatMap { (path, value) in
                Self.entries(of: value, named: name).map { (path.appending($0.key), $0.value) }
            }
        }
        return found
    }

    private static func entries(of value: WireValue, named name: WireKey) -> [WireMap.Pair] {
        guard case .map(let map) = value else { return [] }
        if name == "*" { return map.pairs.sorted { $0.key < $1.key } }
        return map[name].map { [WireMap.Pair(key: name, value: $0)] } ?? []
    }
}

/// The nodes of a tree with their states after the last transaction that was read, by path.
///
/// *Invariants*: a node is in the model exactly while it is in the tree. *Owner*: ``TreeRecord``.
final class TreeModel {
    /// A node and its state; decoded once, when an invariant first reads it.
    final class Entry {
        let node: AnyNode
        let bytes: [UInt8]
        private var decoded: Any?

        init(_ node: AnyNode, _ bytes: [UInt8]) {
            self.node = node
            self.bytes = bytes
        }

        /// The state, if the node is of type `type`.
        func state<R: Reactor>(of type: R.Type) -> R.State? {
            guard node is Node<R> else { return nil }
            if decoded == nil { decoded = try? R.State(wireBytes: bytes) }
            return decoded as? R.State
        }
    }

    private var entries: [SlicePath: Entry] = [:]

    /// The node at `path`.
    subscript(path: SlicePath) -> Entry? { entries[path] }

    /// The paths of the children of collections that match `pattern`, sorted.
    func paths(matching pattern: PathPattern) -> [SlicePath] {
        entries.keys.filter { pattern.matchesChild($0) }
            .sorted { $0.components.lexicographicallyPrecedes($1.components) }
    }

    /// `names` with `*` for each key of a collection.
    func pattern(of names: [WireKey]) -> [WireKey] {
        names.indices.map { index in
            let isKey = entries[SlicePath(Array(names[..<index]))]?.node.isCollection ?? false
            return isKey ? "*" : names[index]
        }
    }

    /// Begins again with the nodes of `tree`.
    func begin(_ tree: Tree) {
        entries = [:]
        tree.forEachNode { set($0, StateLedger.state(of: $0)) }
    }

    /// Applies a change that `ledger` has just read.
    func apply(_ change: NodeChange, _ ledger: StateLedger) {
        if change.structure.isEmpty { return set(change.node, change.after) }
        for structure in change.structure {
            switch structure {
            case .create(let key, let number, let parts):
                removeBranch(at: change.node.path.appending(key))
                for number in [number] + parts.map(\.number) {
                    if let entry = ledger.entry(number) { set(entry.node, entry.state, ledger) }
                }
            case .remove(let key): removeBranch(at: change.node.path.appending(key))
            }
        }
    }

    private func set(_ node: AnyNode, _ bytes: [UInt8]) {
        entries[node.path] = Entry(node, bytes)
    }

    /// Adds a new node with its derived values.
    private func set(_ node: AnyNode, _ bytes: [UInt8], _ ledger: StateLedger) {
        set(node, bytes)
        for (child, state) in ledger.derivedValues(of: node) { set(child, state) }
    }

    /// Removes a node and the nodes below it.
    private func removeBranch(at path: SlicePath) {
        guard entries[path] != nil else { return }
        entries = entries.filter { !$0.key.components.starts(with: path.components) }
    }
}
