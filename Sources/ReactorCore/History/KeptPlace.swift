/// A node of a history, by its number: where it is, which reactor it is of, and what it began with.
///
/// *Place*: beside the deltas of a journal. A replay compares the kept reactor with today's reactor
/// at the path, and begins from the kept state, not from today's initial one, so that a replay of the
/// rows and a start from a snapshot read the same fields.
@WireCodable
public struct KeptPlace: Equatable, Sendable {
    /// ``AnyNode/number``.
    public var number: UInt32
    /// The node's path from the root; of a new child and what is below it, the path from that child.
    public var path: SlicePath
    /// ``AnyNode/reactorName``; empty in histories that do not tell it.
    public var reactor: String = ""
    /// ``AnyNode/fingerprint``.
    public var fingerprint: UInt64 = 0
    /// The encoded state, where the rows before do not lead to it in this form.
    public var state: [UInt8]? = nil

    /// Names the place of a node of any reactor.
    public init(number: UInt32, path: SlicePath) {
        self.number = number
        self.path = path
    }

    /// Describes a node as it is.
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

/// What a transaction decided besides its deltas, for a journal.
public enum NodeFact: Equatable, Sendable {
    /// A change of who owns what.
    case ownership(OwnershipFact)
    /// A change of what is promised.
    case task(TaskFact)
    /// A child came, with all below it, as it began.
    case made([KeptPlace])

    /// Whether it says that the node came.
    func makes(_ number: UInt32) -> Bool {
        guard case .made(let places) = self else { return false }
        return places.first?.number == number
    }
}

extension AnyNode {
    /// The node and all below it as a history keeps them, by their paths from here.
    func kept(at path: SlicePath = .root) -> [KeptPlace] {
        [KeptPlace(self, path: path, withState: true)]
            + orderedChildren.flatMap { $0.kept(at: path.appending($0.name)) }
    }

    /// Notes in which form the history has the node's state.
    func noteKept(_ reactor: String, _ fingerprint: UInt64) {
        isKept = form == ReactorForm(name: reactor, fingerprint: fingerprint)
    }

    /// Whether what was kept of a reactor named `reactor` is this node's.
    func isOf(_ reactor: String) -> Bool {
        reactor.isEmpty || reactor == reactorName || formerNames.contains(reactor)
    }
}

extension Tree {
    /// The layout that the journal records before anything changes: the static nodes, and each keyed
    /// node whose state the history does not have in today's form.
    ///
    /// *Cost*: O(nodes); encodes the states of which the history has another form or none.
    public func takeLayout() -> [KeptPlace] {
        var places = staticNodes.map { KeptPlace($0, path: $0.path, withState: !$0.isKept) }
        let known = Set(places.map(\.number))
        forEachNode { node in
            if !node.isKept, !known.contains(node.number) {
                places.append(KeptPlace(node, path: node.path, withState: true))
            }
            node.isKept = true
        }
        return places
    }

    /// All nodes but those that come and go, and what is below them; parents before children.
    var staticNodes: [AnyNode] { Self.staticNodes(from: root) }

    private static func staticNodes(from node: AnyNode) -> [AnyNode] {
        guard !node.isCollection else { return [node] }
        return [node] + node.orderedChildren.flatMap { staticNodes(from: $0) }
    }
}
