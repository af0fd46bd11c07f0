import ReactorCore
import Testing

@Suite("TrackedState")
struct TrackedStateTests {
    private func memo() -> Memo {
        var memo = Memo(count: 1, limit: 9)
        _ = memo.drainChanges()
        return memo
    }

    private func names(_ changes: StateChanges) -> [WireKey]? {
        guard case .fields(let fields) = changes else { return nil }
        return fields.map(\.name)
    }

    @Test("F56: fields that were set or changed in place are reported once, and no others")
    func changed() {
        var memo = memo()
        #expect(memo.drainChanges().isEmpty)
        memo.count += 1
        memo.title = "new"
        #expect(names(memo.drainChanges()) == ["title", "count"])
        #expect(memo.drainChanges().isEmpty)
        memo.history.append(4)
        #expect(names(memo.drainChanges()) == ["history"])
    }

    @Test("F56: a field set to an equal value is not reported, one changed in place is")
    func equal() {
        var memo = memo()
        memo.count = 1
        memo.title = ""
        #expect(memo.drainChanges().isEmpty)
        memo.count += 0
        #expect(names(memo.drainChanges()) == ["count"])
    }

    @Test("F58: an author reads the change set, completely or by key, without draining it")
    func peek() {
        var memo = memo()
        memo.notes["a"] = 1
        memo.notes["b"] = 2
        memo.notes["a"] = nil
        memo.cache[1] = "x"
        let expected = StateChanges.fields([
            FieldChange(index: 2, name: "notes", parts: .keys(["a", "b"])),
            FieldChange(index: 6, name: "cache"),
        ])
        #expect(memo.changes == expected)
        #expect(memo.changes == expected)
        #expect(memo.drainChanges() == expected)
        #expect(memo.changes.isEmpty)
    }

    @Test("a new, decoded or replaced state counts as changed completely")
    func whole() throws {
        var made = Memo(count: 1, limit: 2)
        #expect(made.drainChanges() == .all)
        var decoded = try Memo(wireBytes: made.wireBytes())
        #expect(decoded.drainChanges() == .all)
        made = Memo(count: 1, limit: 2)
        #expect(made.drainChanges() == .all && made.drainChanges().isEmpty)
    }

    @Test("the marks are not part of equality, hashing and coding")
    func marks() throws {
        var changed = memo()
        let drained = changed
        changed.count += 1
        changed.count -= 1
        #expect(changed == drained && changed.wireBytes() == drained.wireBytes())
        #expect(try Memo(wireBytes: changed.wireBytes()) == drained)
        #expect(Set([StateMarks(), StateMarks()]).count == 1)
        let fields = try WireValue(wireBytes: drained.wireBytes()).mapValue?.keys.map(\.text)
        #expect(
            fields == ["alert", "count", "limit", "noise", "notes", "title", "others", "history"])
    }

    @Test("an exchanged or restored collection is reported as changed completely")
    func exchanged() {
        var memo = memo()
        memo.notes["a"] = 1
        memo.others["b"] = 2
        let older = memo.notes
        _ = memo.drainChanges()
        let notes = memo.notes
        memo.notes = memo.others
        memo.others = notes
        #expect(
            memo.changes
                == .fields([
                    FieldChange(index: 2, name: "notes"), FieldChange(index: 3, name: "others"),
                ]))
        _ = memo.drainChanges()
        memo.notes = older
        #expect(memo.drainChanges() == .fields([FieldChange(index: 2, name: "notes")]))
        var twin = memo
        memo.notes["c"] = 3
        _ = memo.drainChanges()
        twin.notes = memo.notes
        #expect(twin.drainChanges() == .fields([FieldChange(index: 2, name: "notes")]))
        memo.notes = [:]
        #expect(memo.drainChanges() == .fields([FieldChange(index: 2, name: "notes")]))
    }

    @Test(
        "F57: ignored fields are reported separately, and local fields are reported and not encoded"
    )
    func ignored() throws {
        var memo = memo()
        memo.noise = 5
        memo.cache = [1: "one"]
        #expect(
            memo.changes
                == .fields([
                    FieldChange(index: 5, name: "noise", isIgnored: true),
                    FieldChange(index: 6, name: "cache"),
                ]))
        let decoded = try Memo(wireBytes: memo.wireBytes())
        #expect(decoded.noise == 5 && decoded.cache.isEmpty)
        var writer = WireWriter()
        #expect(memo.encode(at: ["cache"], into: &writer) == .impossible)
    }

    @Test("F59: a pulse is reported as changed when it is assigned an equal value")
    func pulse() {
        var memo = memo()
        memo.alert = nil
        #expect(names(memo.drainChanges()) == ["alert"])
        #expect(memo.drainChanges().isEmpty)
    }

    @Test("a generic state is tracked; an incomparable field counts as changed when it is set")
    func generic() {
        var box = Box(content: { 1 })
        _ = box.drainChanges()
        box.closed = false
        #expect(box.drainChanges().isEmpty)
        box.content = { 1 }
        #expect(names(box.drainChanges()) == ["content"])
    }

    @Test("fields are found by their key paths, a pulse by both of its own")
    func paths() {
        let fields = Memo.trackedFields
        #expect(
            fields.map(\.name) == [
                "title", "count", "notes", "others", "history", "noise", "cache", "alert", "alert",
            ])
        #expect(fields[1].path == \Memo.count && fields[5].isIgnored)
        #expect(fields[7].path == \Memo.alert && fields[8].path == \Memo.$alert)
        #expect(fields[7].index == fields[8].index)
    }

    @Test("a node and a replica each drain their own state; an untracked state reports all")
    func drained() throws {
        let tree = Tree(Shelf(), epoch: 1)
        #expect(tree.root.drainChanges() == .all)
        try tree.send(Shelf.Action.put(key: "a", value: 1))
        try tree.send(Shelf.Action.put(key: "b", value: 1))
        #expect(
            tree.root.drainChanges()
                == .fields([
                    FieldChange(index: 1, name: "entries", parts: .keys(["a", "b"]))
                ]))
        try tree.send(Shelf.Action.quiet)
        #expect(tree.root.drainChanges().isEmpty)
        let plain = Tree(Tally(), epoch: 1)
        #expect(plain.root.drainChanges() == .all && plain.root.drainChanges() == .all)
        let framed = Tree(FramedShelf(), epoch: 1)
        try framed.send(Shelf.Action.put(key: "a", value: 1))
        _ = framed.root.drainChanges()
        try framed.send(Shelf.Action.put(key: "b", value: 1))
        #expect(framed.root.drainChanges() == .all)
        let replica = Replica(Shelf())
        #expect(replica.drainChanges() == .all && replica.drainChanges().isEmpty)
    }
}

/// Tracked states in tracked states.
@Suite("TrackedState in another")
struct NestedTrackedStateTests {
    private func desktop() -> Desktop {
        var desktop = Desktop()
        _ = desktop.drainChanges()
        return desktop
    }

    /// The paths in a change set.
    private func paths(_ changes: StateChanges) -> [String] {
        guard case .fields(let fields) = changes else { return ["all"] }
        return fields.flatMap { field -> [String] in
            switch field.parts {
            case .all: ["\(field.name)"]
            case .keys(let keys): keys.map { "\(field.name).\($0)" }
            case .fields(let inner): paths(.fields(inner)).map { "\(field.name).\($0)" }
            }
        }
    }

    @Test("F58: for a nested tracked field the changed fields and keys within are reported")
    func nested() {
        var desktop = desktop()
        desktop.left.count += 1
        desktop.left.notes["a"] = 1
        desktop.deep.memo.title = "new"
        desktop.deep.isOpen = true
        #expect(
            paths(desktop.drainChanges())
                == ["left.count", "left.notes.a", "deep.memo.title", "deep.isOpen"])
        #expect(desktop.drainChanges().isEmpty)
        desktop.right.title = ""
        #expect(desktop.drainChanges().isEmpty)
    }

    @Test("F58: a tracked state that replaced another is reported completely")
    func replaced() {
        var desktop = desktop()
        desktop.left = Memo(count: 9, limit: 9)
        #expect(paths(desktop.drainChanges()) == ["left"])
        desktop.right = desktop.left
        #expect(paths(desktop.drainChanges()) == ["right"])
        let earlier = desktop.left
        desktop.left.count = 4
        #expect(paths(desktop.drainChanges()) == ["left.count"])
        desktop.left = earlier
        #expect(paths(desktop.drainChanges()) == ["left"])
        desktop.spare = desktop.left
        #expect(paths(desktop.drainChanges()) == ["spare"])
        desktop.spare?.count += 1
        #expect(paths(desktop.drainChanges()) == ["spare"])
        // A copy taken after the last drain contains only its own later changes.
        var copy = desktop.right
        copy.title = "copy"
        desktop.right.count = 70
        desktop.right = copy
        #expect(paths(desktop.drainChanges()) == ["right.title"])
    }

    @Test("F58: exchanged fields are reported completely")
    func exchanged() {
        var desktop = desktop()
        let left = desktop.left
        desktop.left = desktop.right
        desktop.right = left
        #expect(paths(desktop.drainChanges()) == ["left", "right"])
    }

    @Test("F58: two drains of a tracked field report the union of its changes")
    func union() {
        var desktop = desktop()
        desktop.left.count += 1
        let first = desktop.drainChanges()
        desktop.left.title = "t"
        desktop.left.notes["a"] = 1
        let both = first.union(desktop.drainChanges())
        #expect(paths(both) == ["left.title", "left.count", "left.notes.a"])
        #expect(paths(first.union(.fields([FieldChange(index: 0, name: "left")]))) == ["left"])
    }
}
