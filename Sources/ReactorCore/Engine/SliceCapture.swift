import ReactorWire

/// The value of a slice at one revision, to be encoded on any thread.
///
///     let capture = node.captureValue(at: field)
///     let encoding = capture.encode()             // elsewhere, later
///
/// *Place*: a server takes one for a request with a large answer, so that no turn waits for the
/// encoding. *Cost*: a copy of each state at and below the node. The copies share storage with the
/// states; while one is held, a write to a large standard collection copies that collection.
package struct SliceCapture: Sendable {
    private let write: @Sendable (inout WireWriter) -> WireReach
    /// Maximum bytes of the encoding.
    private var byteCountMax = Int.max

    /// Captures the value that `write` appends.
    package init(_ write: @escaping @Sendable (inout WireWriter) -> WireReach) {
        self.write = write
    }

    /// Appends the captured value. *Cost*: O(slice size).
    package func encode(into writer: inout WireWriter) -> WireReach { write(&writer) }

    /// The same value, whose encoding is omitted if it has more bytes.
    package func limited(to byteCountMax: Int) -> SliceCapture {
        var copy = self
        copy.byteCountMax = byteCountMax
        return copy
    }

    /// Encodes the captured value. *Cost*: O(slice size); the memory of a large encoding once, and
    /// none for an omitted encoding.
    package func encode() -> SliceEncoding {
        var isThere = false
        let (bytes, byteCount) = WireWriter.bytes(atMost: byteCountMax) { writer in
            isThere = write(&writer) == .found
            if !isThere { writer.removeAll() }
        }
        guard let bytes else {
            return SliceEncoding(
                bytes: [], isThere: isThere, checksum: 0, omittedByteCount: byteCount)
        }
        return SliceEncoding(
            bytes: bytes, isThere: isThere, checksum: WireChecksum(of: bytes.span).value)
    }
}

/// An encoded slice.
package struct SliceEncoding: Sendable {
    /// One CBOR item; empty where the slice has no value.
    package let bytes: [UInt8]
    /// Whether the slice has a value.
    package let isThere: Bool
    /// ``WireChecksum`` of the bytes.
    package let checksum: UInt64
    /// Number of bytes that were too many, and are omitted; nil if they are not.
    package var omittedByteCount: Int?
}

/// A node's state with the states of all nodes below it.
struct CapturedNode: Sendable {
    let own: @Sendable (inout WireWriter) -> Void
    let children: [(key: WireKey, node: CapturedNode)]
    /// Whether the node has children, captured or not.
    private let isParent: Bool

    init(_ node: AnyNode) {
        own = node.copyPresented()
        children = node.children.map { (key: $0.key, node: CapturedNode($0.value)) }
        isParent = !children.isEmpty
    }

    /// Captures a node without the nodes below that `shows` rejects.
    init(_ node: AnyNode, showing shows: (AnyNode) -> Bool) {
        own = node.copyPresented()
        children = node.children.filter { shows($0.value) }
            .map { (key: $0.key, node: CapturedNode($0.value, showing: shows)) }
        isParent = !node.children.isEmpty || node.isCollection
    }

    func encode(into writer: inout WireWriter) {
        guard isParent else { return own(&writer) }
        var state = WireWriter()
        own(&state)
        AnyNode.compose(state, children.map(\.key), into: &writer) { index, writer in
            children[index].node.encode(into: &writer)
        }
    }
}
