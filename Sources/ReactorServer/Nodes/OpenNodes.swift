import ReactorBytes
import ReactorCore
import ReactorWire

/// Opens nodes under numbers that clients choose, and releases removed nodes.
///
/// *Place*: ``Intake`` passes it the frames that open a node; at the end of a turn, the server
/// closes the nodes that the turn removed. ``invariants()`` states the invariants.
final class OpenNodes {
    private let finder: NodeFinder
    private let delivery: Delivery
    /// Maximum number of open nodes of one connection.
    private var countMax: Int
    private var openings = NodeOpenings()

    /// Allows each connection `countMax` open nodes.
    init(_ tree: Tree, _ delivery: Delivery, countMax: Int) {
        finder = NodeFinder(tree: tree)
        self.delivery = delivery
        self.countMax = countMax
    }

    /// Applies another limit from the next node on; open ones stay.
    func setLimits(_ limits: ServerLimits) { countMax = limits.nodesPerConnectionMax }

    /// Number of open nodes that a transaction can remove, counted once each.
    var count: Int { openings.count }

    /// Opens the node that a client requests.
    func open(_ header: FrameHeader, _ body: Span<UInt8>, of connection: Connection) {
        let request: Open
        do throws(WireError) {
            request = try Open(wireBytes: body)
        } catch {
            return delivery.refuse(header, Refusal(.decode, "open: \(error)"), of: connection)
        }
        do throws(Refusal) {
            let node = try find(request.path, at: header.id)
            put(node, at: Int(header.id), of: connection)
            let opened = Opened(
                reactor: node.describedName, fingerprint: node.fingerprint,
                sequence: node.sequence)
            delivery.reply(to: connection) { writer in
                let frame = writer.beginFrame(.opened, id: header.id, number: header.number)
                opened.encode(into: &writer)
                writer.endFrame(at: frame)
            }
        } catch {
            delivery.refuse(header, error, of: connection)
        }
    }

    private func find(_ path: String, at id: UInt32) throws(Refusal) -> AnyNode {
        guard id < UInt32(countMax) else {
            throw Refusal(.quota, "id \(id) is not below nodesPerConnectionMax \(countMax)")
        }
        let (node, field) = try finder.find(path)
        guard field.isEmpty else { throw finder.missing(path, node, field) }
        return node
    }

    /// Assigns a node to a number of a connection, in place of the former one.
    func put(_ node: AnyNode, at index: Int, of connection: Connection) {
        while connection.nodes.count <= index { connection.nodes.append(nil) }
        openings.move(
            NodeOpenings.Position(connection: connection, index: index),
            from: connection.nodes[index], to: node)
        connection.nodes[index] = node
        invariants()
    }

    /// Closes a removed node on every connection.
    func close(_ node: AnyNode) {
        for position in openings.remove(node) {
            position.connection.nodes[position.index] = nil
        }
        invariants()
    }

    /// Closes all nodes of an ended connection.
    func leave(_ connection: Connection) {
        openings.leave(connection)
        connection.nodes.removeAll()
        invariants()
    }

    /// Checks the invariants of a small table, in debug builds.
    @inline(__always)
    private func invariants() {
        assert(
            openings.count > 32 || openings.agreeWithConnections,
            "a node is open where its connection has another")
    }
}
