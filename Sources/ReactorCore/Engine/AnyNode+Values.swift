import ReactorBytes

// MARK: - The composed value
extension AnyNode {
    /// Appends the state with all children composed into it: the value of `get` and of value
    /// slices.
    package final func encodeValue(into writer: inout WireWriter) {
        guard !children.isEmpty else { return encodePresented(into: &writer) }
        let children = Array(children)
        var own = WireWriter()
        encodePresented(into: &own)
        Self.compose(own, children.map(\.key), into: &writer) { index, writer in
            children[index].value.encodeValue(into: &writer)
        }
    }

    /// Appends the encoded state `own` as a map, with the children called `names` among its
    /// entries.
    static func compose(
        _ own: borrowing WireWriter, _ names: [WireKey], into writer: inout WireWriter,
        child: (_ index: Int, _ writer: inout WireWriter) -> Void
    ) {
        var entries: [(key: WireKey, value: [UInt8])] = own.withBytes { bytes in
            ownEntries(of: bytes)
        }
        for (index, name) in names.enumerated() {
            var value = WireWriter()
            child(index, &value)
            entries.append((name, value.bytes))
        }
        entries.sort { $0.key < $1.key }
        writer.map(count: entries.count)
        for entry in entries {
            writer.text(entry.key.text)
            writer.raw(entry.value)
        }
    }

    /// The pairs of an encoded state. A state that is not a map becomes one pair, under `state`.
    private static func ownEntries(of bytes: Span<UInt8>) -> [(key: WireKey, value: [UInt8])] {
        do throws(WireError) {
            return try entries(of: bytes)
        } catch {
            var whole: [UInt8] = []
            whole.append(contentsOf: bytes, 0..<bytes.count)
            return [(stateKey, whole)]
        }
    }

    /// The key of a state that is not a map, in the composed value.
    static let stateKey: WireKey = "state"

    /// The pairs of an encoded map.
    static func entries(
        of bytes: Span<UInt8>
    ) throws(WireError) -> [(key: WireKey, value: [UInt8])] {
        var found: [(key: WireKey, value: [UInt8])] = []
        var cursor = WireCursor()
        var map = try cursor.openMap(in: bytes)
        while let name = try cursor.nextName(in: bytes, &map) {
            let start = cursor.offset
            try cursor.skip(in: bytes)
            var value: [UInt8] = []
            value.append(contentsOf: bytes, start..<cursor.offset)
            found.append((WireKey(bytes.text(name)), value))
        }
        return found
    }

    /// Appends the value at `field` below this node; an empty field is the composed value.
    package final func encodeValue(
        at field: ArraySlice<WireKey>, into writer: inout WireWriter
    ) -> WireReach {
        guard let first = field.first else {
            encodeValue(into: &writer)
            return .found
        }
        if let child = children[first] {
            return child.encodeValue(at: field.dropFirst(), into: &writer)
        }
        return encodeState(at: field, into: &writer)
    }

    /// Appends the value at `field` below this node as if nodes that `shows` rejects, and all below
    /// them, did not exist. It is not asked about this node.
    package final func encodeValue(
        at field: ArraySlice<WireKey>, into writer: inout WireWriter,
        showing shows: (AnyNode) -> Bool
    ) -> WireReach {
        guard let first = field.first else {
            encodeValue(into: &writer, showing: shows)
            return .found
        }
        if let child = children[first], shows(child) {
            return child.encodeValue(at: field.dropFirst(), into: &writer, showing: shows)
        }
        return encodeState(at: field, into: &writer)
    }

    private final func encodeValue(
        into writer: inout WireWriter, showing shows: (AnyNode) -> Bool
    ) {
        // A node with children shows its state in the same form, whichever of them are shown.
        guard !children.isEmpty || isCollection else { return encodePresented(into: &writer) }
        let shown = children.filter { shows($0.value) }.map(\.value)
        var own = WireWriter()
        encodePresented(into: &own)
        Self.compose(own, shown.map(\.name), into: &writer) { index, writer in
            shown[index].encodeValue(into: &writer, showing: shows)
        }
    }

    /// Whether `field` can hold a value as if this node had none of its children.
    package final func allowsOwn(_ field: ArraySlice<WireKey>) -> Bool {
        guard let first = field.first else { return true }
        return isCollection ? keyProblem(first) == nil : stateSchema.allows(field)
    }

    /// Whether `field` below this node can hold a value, now or later. An empty field is the node
    /// itself.
    ///
    /// *Cost*: looks at types and children, and encodes nothing.
    package final func allows(_ field: ArraySlice<WireKey>) -> Bool {
        guard let first = field.first else { return true }
        if let child = children[first] { return child.allows(field.dropFirst()) }
        // A collection may get a child under this key later.
        return allowsOwn(field)
    }
}

// MARK: - Capturing
extension AnyNode {
    /// Captures the value at `field` below this node: see ``encodeValue(at:into:)``.
    package final func captureValue(at field: ArraySlice<WireKey>) -> SliceCapture {
        guard let first = field.first else {
            let node = CapturedNode(self)
            return SliceCapture { writer in
                node.encode(into: &writer)
                return .found
            }
        }
        if let child = children[first] { return child.captureValue(at: field.dropFirst()) }
        return SliceCapture(copyPresented(at: field))
    }

    /// Captures the value at `field` below this node as if nodes that `shows` rejects did not
    /// exist: see ``encodeValue(at:into:showing:)``.
    package final func captureValue(
        at field: ArraySlice<WireKey>, showing shows: (AnyNode) -> Bool
    ) -> SliceCapture {
        guard let first = field.first else {
            let node = CapturedNode(self, showing: shows)
            return SliceCapture { writer in
                node.encode(into: &writer)
                return .found
            }
        }
        if let child = children[first], shows(child) {
            return child.captureValue(at: field.dropFirst(), showing: shows)
        }
        return SliceCapture(copyPresented(at: field))
    }

    /// Captures the start value of a replica: see ``encodeReplica(into:)``.
    package final func captureReplica() -> SliceCapture {
        let write = copyReplica()
        return SliceCapture { writer in
            write(&writer)
            return .found
        }
    }
}

// MARK: - The size of the state
extension AnyNode {
    /// Bytes of the node's own state, encoded, at the last ``measureState()``; 0 before the first.
    package final var stateByteCount: Int { marks.value.stateByteCount }

    /// Measures the node's own state. Returns by how many bytes it grew since the last call. A
    /// derived value has no state of its own, and a removed node has none any more.
    ///
    /// *Cost*: encodes the state, in memory for a piece of it.
    @discardableResult
    package final func measureState() -> Int {
        guard !isGone, !isDerived else { return setStateByteCount(0) }
        return setStateByteCount(encodedByteCount)
    }

    /// Bytes of the node's own state, encoded. *Cost*: as ``measureState()``.
    package final var encodedByteCount: Int {
        WireWriter.byteCount { encodeState(into: &$0) }
    }

    /// The node's own state, encoded. *Cost*: as ``measureState()``.
    final var encodedState: [UInt8] {
        var writer = WireWriter()
        encodeState(into: &writer)
        return writer.bytes
    }

    /// Records the size of the node's own state; returns by how much it is larger than before.
    @discardableResult
    final func setStateByteCount(_ byteCount: Int) -> Int {
        defer { marks.value.stateByteCount = byteCount }
        return byteCount - marks.value.stateByteCount
    }
}

extension KeptSchema {
    /// The schemas of the node's types, in which its values are written; `nil` for a collection.
    init?(_ node: AnyNode) {
        guard let state = node.ownSchema(of: .state), let mutation = node.ownSchema(of: .mutation),
            let action = node.ownSchema(of: .action)
        else { return nil }
        self.init(
            reactor: node.reactorName, fingerprint: node.fingerprint, version: node.ownVersion,
            state: state, mutation: mutation, action: action,
            tasks: Dictionary(
                node.taskKinds.map { ($0.name, $0.schema) }, uniquingKeysWith: { first, _ in first }
            ))
    }
}

extension NodeRecord {
    /// Describes a node in its current state.
    init(_ node: AnyNode, path: SlicePath, withState: Bool) {
        self.init(number: node.number, path: path)
        let form = node.form
        (reactor, fingerprint) = (form.name, form.fingerprint)
        guard withState, !node.isCollection else { return }
        var writer = WireWriter()
        node.encodeState(into: &writer)
        state = writer.bytes
    }
}
