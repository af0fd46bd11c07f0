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
            let node = try find(request.path, at: header.id, for: connection.access)
            put(node, at: Int(header.id), of: connection)
            let sequence = connection.access.map { $0.sequence(of: node) ?? 0 } ?? node.sequence
            let opened = Opened(
                reactor: node.describedName, fingerprint: node.fingerprint, sequence: sequence)
            delivery.reply(to: connection) { writer in
                let frame = writer.beginFrame(.opened, id: header.id, number: header.number)
                opened.encode(into: &writer)
                writer.endFrame(at: frame)
            }
        } catch {
            delivery.refuse(header, error, of: connection)
        }
    }

    private func find(
        _ path: String, at id: UInt32, for access: AccessClass?
    ) throws(Refusal) -> AnyNode {
        guard id < UInt32(countMax) else {
            throw Refusal(.quota, "id \(id) is not below nodesPerConnectionMax \(countMax)")
        }
        let (node, field) = try finder.find(try finder.path(path), for: access, to: .see)
        guard field.isEmpty else {
            let isWhole = access.map { $0.view(of: node) == nil } ?? true
            throw finder.missing(path, node, field, isWhole: isWhole)
        }
        return node
    }

    /// Assigns a node to a number of a connection, in place of the former one.
    func put(_ node: AnyNode, at index: Int, of connection: Connection) {
        while connection.nodes.count <= index { connection.nodes.append(nil) }
        openings.move(
            NodeOpenings.Position(connection: connection, index: index),
            from: connection.nodes[index] ?? connection.guarded[UInt32(index)]?.node, to: node)
        connection.guardNode(UInt32(index), nil)
        connection.nodes[index] = node
        guardActions(of: node, at: index, of: connection)
        invariants()
    }

    /// Opens the nodes that actions of a following daemon's client name, and closes the numbers that
    /// name none.
    func bind(_ aliases: [NodeAlias], of connection: Connection) {
        for alias in aliases {
            let former = connection.openNode(alias.id)
            guard let node = alias.node == NodeAlias.noNode ? nil : finder.tree.node(alias.node)
            else {
                close(Int(alias.id), of: connection)
                continue
            }
            if former !== node { put(node, at: Int(alias.id), of: connection) }
        }
    }

    /// Closes the node that a connection has under a number, if there is one.
    private func close(_ index: Int, of connection: Connection) {
        guard index < connection.nodes.count else { return }
        let id = UInt32(index)
        if let node = connection.nodes[index] ?? connection.guarded[id]?.node {
            let position = NodeOpenings.Position(connection: connection, index: index)
            openings.close(position, of: node)
        }
        connection.nodes[index] = nil
        connection.guardNode(id, nil)
        invariants()
    }

    /// Takes a node from the fast path if the client may not send it every action.
    private func guardActions(of node: AnyNode, at index: Int, of connection: Connection) {
        guard let place = connection.access?.place(of: node) else { return }
        // The actions of a collection name children, and these may be hidden.
        let isDivided = node.isCollection && !place.isWhole
        guard isDivided || !place.rights.verbs.contains(.act) else { return }
        let rights = isDivided ? AccessRights(.see) : place.rights
        connection.nodes[index] = nil
        connection.guardNode(UInt32(index), GuardedNode(node: node, rights: rights))
    }

    /// Applies the rights that a connection has now to its open nodes: it closes those that the
    /// client may not see any more.
    func guardActions(of connection: Connection) {
        for index in connection.nodes.indices {
            let id = UInt32(index)
            guard let node = connection.nodes[index] ?? connection.guarded[id]?.node else {
                continue
            }
            if connection.access?.sees(node) ?? true {
                put(node, at: index, of: connection)
            } else {
                let position = NodeOpenings.Position(connection: connection, index: index)
                openings.close(position, of: node)
                connection.nodes[index] = nil
                connection.guardNode(id, nil)
            }
        }
        invariants()
    }

    /// Closes a removed node on every connection.
    func close(_ node: AnyNode) {
        for position in openings.remove(node) {
            position.connection.nodes[position.index] = nil
            position.connection.guardNode(UInt32(position.index), nil)
        }
        invariants()
    }

    /// Closes all nodes of an ended connection.
    func leave(_ connection: Connection) {
        openings.leave(connection)
        connection.nodes.removeAll()
        connection.forgetGuarded()
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
