public import ReactorWire

/// What a slice holds at one revision, to be encoded on any thread.
///
///     let capture = node.captureValue(at: field)
///     let encoding = capture.encode()             // elsewhere, later
///
/// *Place*: a server takes one for a question whose answer is large, so that no turn waits for the
/// encoding. *Cost*: a copy of each state at and below the node, which shares what does not change
/// until the capture is released; a write to a large plain collection copies it while one is held.
public struct SliceCapture: Sendable {
    private let write: @Sendable (inout WireWriter) -> WireReach

    /// Captures what `write` appends.
    package init(_ write: @escaping @Sendable (inout WireWriter) -> WireReach) {
        self.write = write
    }

    /// Encodes what was captured. *Cost*: that of the slice's size.
    public func encode() -> SliceEncoding {
        var writer = WireWriter()
        let isThere = write(&writer) == .found
        if !isThere { writer.removeAll() }
        return SliceEncoding(
            bytes: writer.bytes, isThere: isThere,
            checksum: writer.withBytes { WireChecksum(of: $0).value })
    }
}

/// An encoded slice.
public struct SliceEncoding: Sendable {
    /// One CBOR item; no byte where nothing stands at the slice.
    public let bytes: [UInt8]
    /// Whether something stands at the slice.
    public let isThere: Bool
    /// ``WireChecksum`` of the bytes.
    public let checksum: UInt64
}

// MARK: - Capturing
extension AnyNode {
    /// Captures the value at `field` below this node: see ``encodeValue(at:into:)``.
    public final func captureValue(at field: ArraySlice<WireKey>) -> SliceCapture {
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

    /// Captures what a replica starts from: see ``encodeReplica(into:)``.
    public final func captureReplica() -> SliceCapture {
        let write = copyReplica()
        return SliceCapture { writer in
            write(&writer)
            return .found
        }
    }
}

extension Tree {
    /// Captures the list of all nodes: an encoded array of ``TreeEntry``, parents before children,
    /// siblings in ascending order of their names.
    ///
    /// *Cost*: O(nodes), without encoding or sorting anything.
    public func captureEntries() -> SliceCapture {
        var names: [ObjectIdentifier: String] = [:]
        var entries: [(path: SlicePath, reactor: String, sequence: UInt64)] = []
        entries.reserveCapacity(order.count)
        for node in order {
            // because the name of a type is made each time that it is asked for
            let type = ObjectIdentifier(type(of: node))
            let name = names[type] ?? node.reactorName
            names[type] = name
            entries.append((node.path, name, node.sequence))
        }
        let captured = entries
        return SliceCapture { writer in
            let sorted = captured.sorted {
                $0.path.components.lexicographicallyPrecedes($1.path.components)
            }
            writer.array(count: sorted.count)
            for entry in sorted {
                TreeEntry(
                    path: entry.path.description, reactor: entry.reactor,
                    sequence: entry.sequence
                ).encode(into: &writer)
            }
            return .found
        }
    }
}

/// A node's state with those of all nodes below it.
private struct CapturedNode: Sendable {
    let own: @Sendable (inout WireWriter) -> Void
    let children: [(key: WireKey, node: CapturedNode)]

    init(_ node: AnyNode) {
        own = node.copyPresented()
        children = node.children.map { (key: $0.key, node: CapturedNode($0.value)) }
    }

    func encode(into writer: inout WireWriter) {
        guard !children.isEmpty else { return own(&writer) }
        var state = WireWriter()
        own(&state)
        AnyNode.compose(state, children.map(\.key), into: &writer) { index, writer in
            children[index].node.encode(into: &writer)
        }
    }
}
