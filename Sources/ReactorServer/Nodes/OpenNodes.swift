import ReactorBytes
import ReactorCore
import ReactorWire

/// Makes nodes addressable by numbers that clients choose, and lets go of nodes that are removed.
///
/// *Place*: ``Intake`` hands it the frames that open a node; the end of a turn closes the nodes that
/// the turn removed. ``invariants()`` states what holds between two verbs.
final class OpenNodes {
    private let finder: NodeFinder
    private let delivery: Delivery
    /// Most nodes that one connection has open.
    private let countMax: Int
    private var openings = NodeOpenings()

    /// Lets a connection have `countMax` nodes open.
    init(_ tree: Tree, _ delivery: Delivery, countMax: Int) {
        finder = NodeFinder(tree: tree)
        self.delivery = delivery
        self.countMax = countMax
    }

    /// How many nodes are open anywhere that a transaction can remove.
    var count: Int { openings.count }

    /// Opens the node that a client asks for.
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
                reactor: node.reactorName, fingerprint: node.fingerprint, sequence: node.sequence)
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

    /// Puts a node at a number of a connection, in the place of the one before.
    func put(_ node: AnyNode, at index: Int, of connection: Connection) {
        while connection.nodes.count <= index { connection.nodes.append(nil) }
        openings.move(
            NodeOpenings.Position(connection: connection, index: index),
            from: connection.nodes[index], to: node)
        connection.nodes[index] = node
        invariants()
    }

    /// Closes a removed node wherever it is open.
    func close(_ node: AnyNode) {
        for position in openings.remove(node) {
            position.connection.nodes[position.index] = nil
        }
        invariants()
    }

    /// Closes all nodes of a connection that has ended.
    func leave(_ connection: Connection) {
        openings.leave(connection)
        connection.nodes.removeAll()
        invariants()
    }

    /// What holds between two verbs; checked in debug builds, for few nodes alone.
    @inline(__always)
    private func invariants() {
        assert(
            openings.count > 32 || openings.agreeWithConnections,
            "a node is open where its connection has another")
    }
}
