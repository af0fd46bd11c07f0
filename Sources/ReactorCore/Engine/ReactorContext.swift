/// The information and the requests that a decision has besides the action and the state.
///
/// *Owner*: valid during the call that receives it.
public struct ReactorContext<R: Reactor> {
    @usableFromInline let turn: Turn
    @usableFromInline let node: Node<R>

    @inlinable
    init(_ turn: Turn, _ node: Node<R>) {
        self.turn = turn
        self.node = node
    }

    /// The sender of the action.
    public var caller: Caller {
        turn.askDaemon()
        return turn.transaction.caller
    }

    /// The client and the number of this action; ``Origin/daemon`` for the daemon's own changes.
    public var cause: Origin {
        turn.askDaemon()
        return turn.transaction.origin
    }

    /// The revision that the transaction gets if it is applied.
    public var revision: Revision {
        turn.askDaemon()
        return Revision(epoch: turn.epoch, sequence: turn.sequence &+ 1)
    }

    /// The time of the clock that planned actions wait for: the system's in a daemon. A ``Store``
    /// and a test's tree count from the start of their own clock. A replay does not decide again,
    /// so a time belongs into a mutation if the state needs it.
    public var now: WallTime {
        turn.askDaemon()
        return WallTime(milliseconds: turn.tree.environment.wallClock())
    }

    /// Random numbers: the system's in a daemon and in a ``Store``, reproducible ones in a test's
    /// tree. A replay does not decide again, so a number belongs into a mutation if the state needs
    /// it.
    ///
    ///     var random = context.random
    ///     return [.dealt(state.cards.shuffled(using: &random))]
    public var random: TreeRandom {
        turn.askDaemon()
        return turn.tree.environment.random
    }

    /// Whether a client runs the decision on its mirror, to show the result until the daemon's
    /// answer arrives. A decision that reads the caller, the cause, the revision, the time, a random
    /// number, an id, a key, a child or a derived value is not shown. Other decisions that cannot
    /// run on a mirror call ``refusePreview()``.
    public var isPreview: Bool { turn.isPreview }

    /// The reactor's path.
    public var path: SlicePath { node.path }

    /// The key under which a collection has this reactor; `nil` if it is the root or a static child,
    /// or if the key's text is no `Key`.
    ///
    ///     let number = context.key(as: Int.self)  // 7, at /projects/web/runs/7
    public func key<Key: ChildKey>(as type: Key.Type = Key.self) -> Key? {
        turn.askDaemon()
        guard let collection = node.parent, collection.isCollection else { return nil }
        return Key(wireKeyText: node.name.text)
    }

    /// The key under which a collection of a reactor above has this reactor, or the branch that
    /// contains it; of reactors of one type above each other, the nearest counts. `nil` without
    /// such a collection above.
    ///
    ///     let project = context.key(in: \Coordinator.$projects)  // "web", at /projects/web/runs/7
    ///
    /// *Cost*: O(depth).
    public func key<Parent: Reactor, Key: ChildKey, Child: Reactor>(
        in children: KeyPath<Parent, KeyedHandle<Key, Child>>
    ) -> Key? {
        turn.askDaemon()
        var branch: AnyNode = node
        while let collection = branch.parent {
            if collection.isCollection, let parent = collection.parent as? Node<Parent>,
                parent.reactor[keyPath: children].name == collection.name
            {
                return Key(wireKeyText: branch.name.text)
            }
            branch = collection
        }
        return nil
    }

    // MARK: Ids

    /// The reactor's own id.
    public var id: ReactorID {
        turn.askDaemon()
        return ReactorID(epoch: turn.epoch, node: node.number)
    }

    /// The id of a child.
    public func id<Child: Reactor>(of child: ChildHandle<Child>) -> ReactorID {
        turn.askDaemon()
        return ReactorID(epoch: turn.epoch, node: child.node(below: node).number)
    }

    /// The id of the child under `key`, if there is one.
    public func id<Key: ChildKey, Child: Reactor>(
        of children: KeyedHandle<Key, Child>, _ key: Key
    ) -> ReactorID? {
        turn.askDaemon()
        return children.node(below: node, key).map {
            ReactorID(epoch: turn.epoch, node: $0.number)
        }
    }

    // MARK: Children

    /// A child's state.
    public func state<Child: Reactor>(of child: ChildHandle<Child>) -> Child.State {
        turn.askDaemon()
        return child.node(below: node).state
    }

    /// The state of the child under `key`, if there is one.
    public func state<Key: ChildKey, Child: Reactor>(
        of children: KeyedHandle<Key, Child>, _ key: Key
    ) -> Child.State? {
        turn.askDaemon()
        return children.node(below: node, key)?.state
    }

    /// The state of a reactor below this one, at any depth; `nil` if a key on the way has no child.
    ///
    ///     let run = context.state(of: $projects[name].$runs[7])
    public func state<Target: Reactor>(of target: Descendant<Target>) -> Target.State? {
        turn.askDaemon()
        return (try? target.find(node))?.state
    }

    /// The keys of a collection of children, in the ascending order of their type: see
    /// ``ChildKey/isOrdered(_:before:)``.
    public func keys<Key: ChildKey, Child: Reactor>(
        of children: KeyedHandle<Key, Child>
    ) -> [Key] {
        turn.askDaemon()
        return Self.keys(in: children.collection(below: node))
    }

    /// The keys of a collection of a reactor below this one, in the order of
    /// ``keys(of:)-(KeyedHandle<Key,Child>)``; `nil` if a key on the way has no child.
    public func keys<Key: ChildKey, Child: Reactor>(
        of children: DescendantCollection<Key, Child>
    ) -> [Key]? {
        turn.askDaemon()
        return (try? children.find(node)).map { Self.keys(in: $0) }
    }

    private static func keys<Key: ChildKey>(in collection: AnyNode) -> [Key] {
        collection.childNames.compactMap { Key(wireKeyText: $0.text) }.sorted(by: Key.isOrdered)
    }

    // MARK: Replies

    /// Answers the action with a reply, besides "applied". The reply to an action that another
    /// reactor sent is dropped: the client gets the reply of the reactor that it addressed.
    public func reply(_ reply: R.Reply) {
        guard !turn.isIndirect else { return }
        turn.transaction.wishes.request(.reply(WireEmbedded(reply)))
    }

    /// Defers the answer and returns the ticket for it, which the reactor keeps in its state. The
    /// action itself is applied now.
    ///
    /// An action that another reactor sent cannot defer the client's answer: it is refused as
    /// `DEFERRED`.
    public func deferReply() -> ReplyTicket {
        turn.askDaemon()
        if turn.isIndirect {
            turn.refuseDeferral(of: node)
        } else {
            turn.transaction.wishes.request(.deferredReply)
        }
        let origin = turn.transaction.origin
        return ReplyTicket(client: origin.client, ordinal: origin.ordinal)
    }

    /// Answers a deferred action with a reply.
    public func answer(_ ticket: ReplyTicket, with reply: R.Reply) {
        turn.transaction.answer(ticket, reply: WireEmbedded(reply))
    }

    /// Answers a deferred action with a rejection.
    ///
    /// A client whose connection has ended waits no longer: its outcome is `OWNER_ENDED`, and an
    /// answer or a rejection from ``Reactor/connectionEnded(_:state:context:)`` does not replace it.
    public func refuse(_ ticket: ReplyTicket, _ rejection: Rejection) {
        turn.transaction.refuse(ticket, rejection)
    }

    // MARK: Ownership

    /// Ties `key` to the caller's connection: the end of that calls ``Reactor/connectionEnded``.
    public func own(_ key: some ChildKey) {
        turn.askDaemon()
        own(key, connection: turn.transaction.caller.connection)
    }

    /// Unties `key` from the connection numbered `connection`.
    public func disown(_ key: some ChildKey, connection: UInt64) {
        turn.transaction.wishes.request(
            .ownership(.disown(node: node.number, key: key.pathKey, connection: connection)))
    }

    /// Ties `key` to another connection, such as the next in line.
    public func own(_ key: some ChildKey, connection: UInt64) {
        turn.transaction.wishes.request(
            .ownership(
                .own(
                    node: node.number, key: key.pathKey, connection: connection,
                    definesLifecycle: nil)))
    }

    /// Checks that the caller may release what another connection owns here, before ``disown``:
    /// that is its own user's, or the daemon's access rules grant it `own` at this node.
    ///
    /// *Throws*: a rejection `FORBIDDEN`.
    public func checkRelease(from connection: UInt64, of uid: UInt32) throws(Rejection) {
        turn.askDaemon()
        let caller = turn.transaction.caller
        if caller.isDaemon || caller.connection == connection { return }
        if let refusal = turn.tree.releaseRefusal(caller, uid, node) { throw refusal }
    }

    // MARK: Followers

    /// Dispatches an action to the node at `path` as a separate transaction, after this one is
    /// complete and before any other client's action.
    public func dispatch(_ path: SlicePath, _ action: some WireCodable) {
        follow(
            with: FollowerRequest(asker: node.number, path: path, action: WireEmbedded(action)))
    }

    /// Dispatches another action to this reactor, after this one is complete.
    public func dispatch(_ action: R.Action) { dispatch(node.path, action) }

    /// Dispatches an action to a child: see ``dispatch(_:to:)-(_,Descendant<Target>)``.
    public func dispatch<Target: Reactor>(
        _ action: Target.Action, to child: ChildHandle<Target>
    ) {
        dispatch(action, to: child.descendant)
    }

    /// Dispatches an action to a reactor below this one, as a separate transaction, after this one
    /// is complete. This transaction may still create the reactor.
    public func dispatch<Target: Reactor>(
        _ action: Target.Action, to target: Descendant<Target>
    ) {
        dispatch(action, to: target, below: node)
    }

    private func dispatch<Target: Reactor>(
        _ action: Target.Action, to target: Descendant<Target>, below origin: AnyNode
    ) {
        follow(
            with: FollowerRequest(
                asker: node.number, path: origin.path, action: WireEmbedded(action)
            ) { () throws(MissingNode) in
                if origin.isGone { throw MissingNode(origin.path) }
                return try target.find(origin).number
            })
    }

    /// Dispatches an action to the nearest reactor of a type above this one, wherever the tree has
    /// it, as a separate transaction, after this one is complete.
    ///
    ///     context.dispatch(.note("built"), toNearest: Coordinator.self)
    ///
    /// Without such a reactor above, it is refused as `NOT_FOUND`.
    public func dispatch<Ancestor: Reactor>(
        _ action: Ancestor.Action, toNearest type: Ancestor.Type
    ) {
        dispatch(action, toNearest: type) { _ -> Descendant<Ancestor> in .itself }
    }

    /// Dispatches an action to a reactor below the nearest reactor of a type above this one, such
    /// as a sibling: see ``dispatch(_:toNearest:)``.
    ///
    ///     context.dispatch(.build, toNearest: Coordinator.self) { $0.$projects[next] }
    public func dispatch<Ancestor: Reactor, Target: Reactor>(
        _ action: Target.Action, toNearest type: Ancestor.Type,
        _ target: (Ancestor) -> Descendant<Target>
    ) {
        var above = node.parent
        while let next = above {
            if let ancestor = next as? Node<Ancestor> {
                return dispatch(action, to: target(ancestor.reactor), below: ancestor)
            }
            above = next.parent
        }
        let path = node.path
        dispatch(
            action,
            to: Descendant<Target> { _ throws(MissingNode) in
                throw MissingNode(
                    path, Rejection(.notFound, "\(path): no \(Ancestor.self) is above it"))
            }, below: node)
    }

    /// Dispatches an action to a static child of the nearest reactor of a type above this one, such
    /// as a sibling: see ``dispatch(_:toNearest:)``.
    ///
    ///     context.dispatch(.assign, toNearest: Coordinator.self) { $0.$workers }
    public func dispatch<Ancestor: Reactor, Target: Reactor>(
        _ action: Target.Action, toNearest type: Ancestor.Type,
        _ target: (Ancestor) -> ChildHandle<Target>
    ) {
        dispatch(action, toNearest: type) { target($0).descendant }
    }

    /// Dispatches an action to the reactor at a path of the tree, as a separate transaction, after
    /// this one is complete. The path begins at the root: for a parent or a sibling of a reactor that
    /// daemons mount at different places, use ``dispatch(_:toNearest:)``.
    ///
    /// Making a path mounts the reactors on it: keep the path in a static property.
    public func dispatch<Target: Reactor>(
        _ action: Target.Action, to target: ReactorPath<Target>
    ) {
        let (path, turn) = (target.path, turn)
        follow(
            with: FollowerRequest(
                asker: node.number, path: path, action: WireEmbedded(action)
            ) { () throws(MissingNode) in
                guard let found = turn.tree.node(at: path) else { throw MissingNode(path) }
                if found is Node<Target> { return found.number }
                throw MissingNode(
                    path,
                    Rejection(
                        .notFound,
                        "\(path): expected a reactor of type \(Target.self), got "
                            + "\(found.reactorName)"))
            })
    }

    private func follow(with request: FollowerRequest) {
        turn.transaction.wishes.request(.follower(request))
    }
}
