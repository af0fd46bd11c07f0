package import ReactorCore
package import ReactorWire

/// The rights of all callers that the same rules name, by path.
///
/// A path above one at which the rules let the caller see something can be seen itself: the name
/// of the lower path contains it. That grants nothing else there.
///
/// *Shape*: a tree of the paths that rules name; every other path has the rights that its parent
/// passes on.
package final class AccessClass: Sendable {
    /// The class's number.
    package let id: UInt32
    fileprivate let entries: [Entry]
    private let rules: [AccessRules.Rule]
    private let fallback: AccessRights

    fileprivate struct Entry: Sendable {
        /// The rights at this path.
        var rights: AccessRights
        /// The rights at the paths below that no entry has.
        var inherited: AccessRights
        /// The verbs that are allowed at this path and at every path below.
        var covered: AccessVerbs = []
        var below: [WireKey: Int] = [:]
        /// Whether a rule names exactly this path.
        var isNamed = false
    }

    /// Compiles the rules that name the callers.
    package init(id: UInt32, _ rules: [AccessRules.Rule], fallback: AccessRights) {
        self.id = id
        self.rules = rules
        self.fallback = fallback
        var entries = [Entry(rights: fallback, inherited: fallback)]
        // Ascending, so that an entry inherits from entries that are complete.
        let paths = Dictionary(grouping: rules, by: \.path)
            .sorted { $0.key.components.count < $1.key.components.count }
        for (path, rules) in paths {
            let index = Self.index(of: path, in: &entries)
            let isHidden = rules.contains { $0.rights == AccessRights.none }
            let all = rules.reduce(AccessRights.none) { $0.union($1.rights) }
            let rights = isHidden ? AccessRights.none : all
            entries[index].rights = rights
            entries[index].inherited = rights
            entries[index].isNamed = true
        }
        Self.complete(0, &entries)
        self.entries = entries
    }

    /// Whether it has the rights of these rules, in any order.
    func isMade(of rules: [AccessRules.Rule], fallback: AccessRights) -> Bool {
        self.fallback == fallback && self.rules.count == rules.count
            && rules.allSatisfy(self.rules.contains) && self.rules.allSatisfy(rules.contains)
    }

    /// The entry of a path; it is made if there is none.
    private static func index(of path: SlicePath, in entries: inout [Entry]) -> Int {
        var index = 0
        for name in path.components {
            if let next = entries[index].below[name] {
                index = next
                continue
            }
            let inherited = entries[index].inherited
            entries[index].below[name] = entries.count
            index = entries.count
            entries.append(Entry(rights: inherited, inherited: inherited))
        }
        return index
    }

    /// Lets paths above visible ones be seen, and finds what is allowed at all paths below.
    private static func complete(_ index: Int, _ entries: inout [Entry]) {
        var covered = entries[index].inherited.verbs
        for next in entries[index].below.values {
            complete(next, &entries)
            if entries[next].rights.verbs.contains(.see) {
                let own = entries[index].rights
                entries[index].rights = own.union(AccessRights(.see))
            }
            covered.formIntersection(entries[next].covered)
        }
        entries[index].covered = covered.intersection(entries[index].rights.verbs)
    }
}

/// The rights of a class at a path.
package struct PathAccess {
    private let access: AccessClass
    /// The entry of the path; nil if no rule names it or a path below.
    private let index: Int?
    /// The rights at the path.
    package let rights: AccessRights
    /// The rights at the paths below that no rule names.
    package let inherited: AccessRights
    /// The verbs that are allowed at the path and at every path below.
    package let covered: AccessVerbs

    fileprivate init(
        _ access: AccessClass, _ index: Int?, _ rights: AccessRights, _ inherited: AccessRights,
        _ covered: AccessVerbs
    ) {
        self.access = access
        self.index = index
        self.rights = rights
        self.inherited = inherited
        self.covered = covered
    }

    private init(_ access: AccessClass, uniform rights: AccessRights) {
        self.init(access, nil, rights, rights, rights.verbs)
    }

    fileprivate init(_ access: AccessClass, entry index: Int) {
        let entry = access.entries[index]
        self.init(access, index, entry.rights, entry.inherited, entry.covered)
    }

    /// Whether the class may see that the path exists.
    package var isSeen: Bool { rights.verbs.contains(.see) }

    /// Whether the class may read the state at the path.
    package var isRead: Bool { rights.verbs.contains(.read) }

    /// Whether the class may see and read the path and every path below.
    package var isWhole: Bool { covered.isSuperset(of: [.see, .read]) }

    /// The place one name below.
    package func named(_ name: WireKey) -> PathAccess {
        guard let index, let next = access.entries[index].below[name] else {
            return PathAccess(access, uniform: inherited)
        }
        return PathAccess(access, entry: next)
    }

    /// The place of a child whose name neither a rule nor a node has.
    package var stranger: PathAccess { PathAccess(access, uniform: inherited) }

    /// The rights at a path below of which nothing exists, or may be seen.
    ///
    /// Where a hidden name has no right to be seen, it has the rights of any other name, so that
    /// both have one answer.
    package func rights(below path: ArraySlice<WireKey>) -> AccessRights {
        guard !path.isEmpty else { return rights }
        let rights = path.reduce(self) { $0.named($1) }.rights
        return rights.verbs.contains(.see) ? rights : inherited
    }

    /// The place of a child.
    ///
    /// A derived value may show each state below its parent. If some of them may not be read, the
    /// derived value is hidden, unless a rule names it.
    package func child(_ node: AnyNode) -> PathAccess {
        let place = named(node.name)
        if node.isDerived, !isWhole, !place.isNamed { return PathAccess(access, uniform: .none) }
        return place.guarding(node)
    }

    private var isNamed: Bool { index.map { access.entries[$0].isNamed } ?? false }

    /// The same, without the right to read a state that rules divide: a rule names a path inside
    /// it, and rules hold for whole states.
    fileprivate func guarding(_ node: AnyNode) -> PathAccess {
        guard let index, !node.isCollection,
            access.entries[index].below.keys.contains(where: { name in
                node.children[name] == nil && node.stateSchema.allows([name])
            })
        else { return self }
        return PathAccess(
            access, index, rights.subtracting([.read, .history]), inherited,
            covered.subtracting([.read, .history]))
    }
}

extension AccessClass {
    /// The place of the root, without regard to what its state is.
    package var top: PathAccess { PathAccess(self, entry: 0) }

    /// The place of the root of a tree.
    package func place(ofRoot root: AnyNode) -> PathAccess { top.guarding(root) }

    /// The place of a node. *Cost*: O(depth), up to the last path that rules name.
    package func place(of node: AnyNode) -> PathAccess {
        guard let parent = node.parent else { return place(ofRoot: node) }
        return place(of: parent).child(node)
    }

    /// Whether the class may administer the daemon.
    package var isAdministrator: Bool { top.rights.verbs.contains(.admin) }

    /// The rights at a path of components.
    package func rights(at path: [WireKey]) -> AccessRights {
        path.reduce(top) { $0.named($1) }.rights
    }

    /// Whether the class may read a node's own state.
    package func reads(_ node: AnyNode) -> Bool { place(of: node).isRead }

    /// Whether the class may see a node.
    package func sees(_ node: AnyNode) -> Bool { place(of: node).isSeen }

    /// The class, if some node at or below `node` is hidden from it; else nil: its answers are those
    /// for every caller.
    package func view(of node: AnyNode) -> AccessClass? { place(of: node).isWhole ? nil : self }

    /// The sequence of a node as the class may see it: 0 where a hidden node below may have changed
    /// it, nil for a hidden node.
    package func sequence(of node: AnyNode) -> UInt64? {
        let place = place(of: node)
        return place.isSeen ? place.isWhole ? node.sequence : 0 : nil
    }
}

extension AccessClass: Hashable {
    package static func == (one: AccessClass, other: AccessClass) -> Bool { one.id == other.id }
    package func hash(into hasher: inout Hasher) { hasher.combine(id) }
}
