/// What a decision may know and ask for, besides the action and the state.
///
/// *Owner*: valid during the call that it was handed to.
public struct Context<R: Reactor> {
    @usableFromInline let turn: Turn
    @usableFromInline let node: Node<R>

    @inlinable
    init(_ turn: Turn, _ node: Node<R>) {
        self.turn = turn
        self.node = node
    }

    /// Who sent the action.
    public var caller: Caller {
        turn.noteDaemonOnly()
        return turn.caller
    }

    /// Which client's which action this is; the daemon's own changes have ``Origin/daemon``.
    public var cause: Origin {
        turn.noteDaemonOnly()
        return turn.origin
    }

    /// The revision that the transaction gets if it is applied.
    public var revision: Revision {
        turn.noteDaemonOnly()
        return Revision(epoch: turn.epoch, sequence: turn.sequence &+ 1)
    }

    /// Whether a client tries the action on its mirror: its result is shown until the daemon's own
    /// arrives. A decision that reads the caller, the cause, the revision, an id or a child is not
    /// shown; others that cannot be tried say ``refusePreview()``.
    public var isPreview: Bool { turn.isPreview }

    /// The reactor's path.
    public var path: SlicePath { node.path }

    // MARK: Children

    /// A child's state.
    public func state<Child: Reactor>(of child: ChildHandle<Child>) -> Child.State {
        turn.noteDaemonOnly()
        return child.node(below: node).state
    }

    /// The state of the child under `key`, if there is one.
    public func state<Child: Reactor>(
        of children: KeyedHandle<Child>, _ key: WireKey
    ) -> Child.State? {
        turn.noteDaemonOnly()
        return children.node(below: node, key)?.state
    }

    /// The keys of a collection of children, in ascending order.
    public func keys<Child: Reactor>(of children: KeyedHandle<Child>) -> [WireKey] {
        turn.noteDaemonOnly()
        return children.collection(below: node).childNames.sorted()
    }

    // MARK: Replies

    /// Answers the action, beyond "applied".
    public func reply(_ reply: R.Reply) {
        turn.reply = WireEmbedded(reply)
    }

    /// Leaves the answer for later, and gives the ticket by which it can be given; keep it in the
    /// state. The action itself is applied now.
    public func deferReply() -> ReplyTicket {
        turn.noteDaemonOnly()
        turn.isReplyDeferred = true
        return ReplyTicket(client: turn.origin.client, ordinal: turn.origin.ordinal)
    }

    /// Gives an answer that was deferred.
    public func answer(_ ticket: ReplyTicket, with reply: R.Reply) {
        turn.answer(ticket, reply: WireEmbedded(reply))
    }

    /// Gives "no" as the answer that was deferred.
    public func refuse(_ ticket: ReplyTicket, _ rejection: Rejection) {
        turn.refuse(ticket, rejection)
    }

    // MARK: Ownership

    /// Ties `key` to the caller's connection: when that ends, ``Reactor/connectionEnded`` is told.
    public func own(_ key: WireKey) {
        turn.noteDaemonOnly()
        turn.own(node.number, key, connection: turn.caller.connection)
    }

    /// Unties `key` from the connection numbered `connection`.
    public func disown(_ key: WireKey, connection: UInt64) {
        turn.disown(node.number, key, connection: connection)
    }

    /// Ties `key` to another connection, such as the next in line.
    public func own(_ key: WireKey, connection: UInt64) {
        turn.own(node.number, key, connection: connection)
    }

    // MARK: Followers

    /// Dispatches an action to the node at `path`, after this one is complete and before any other
    /// client's, as a transaction of its own.
    public func dispatch(_ path: SlicePath, _ action: some WireCodable) {
        turn.follow(path, WireEmbedded(action))
    }

    /// Dispatches another action to this reactor, after this one is complete.
    public func dispatch(_ action: R.Action) {
        turn.follow(node.path, WireEmbedded(action))
    }
}
