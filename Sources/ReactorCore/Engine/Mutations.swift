/// The result of deciding an action: mutations that apply now, and effects that start after they
/// are committed.
///
/// An array literal is a list of synchronous mutations; ``none`` is empty.
public struct Mutations<Mutation: Sendable> {
    @usableFromInline var sync: Facts
    /// The rare parts; `nil` on the common path.
    @usableFromInline var extras: Extras?

    // One mutation is the common case; an array of one would cost an allocation.
    @usableFromInline
    enum Facts {
        case none
        case one(Mutation)
        case many([Mutation])

        @usableFromInline var count: Int {
            switch self {
            case .none: 0
            case .one: 1
            case .many(let all): all.count
            }
        }
    }

    @usableFromInline
    final class Extras {
        let effects: [Effect<Mutation>]
        let elsewhere: [ElsewhereChange]
        /// Whether `elsewhere` contains an action, which its reactor may refuse.
        let isSending: Bool
        /// The effects to cancel, before the new ones start.
        let cancelled: [EffectSelection]
        /// The durable tasks to record.
        let tasks: [TaskWish]

        /// Adds requests to earlier ones.
        init(
            after former: Extras? = nil, effects: [Effect<Mutation>] = [],
            elsewhere: [ElsewhereChange] = [], isSending: Bool = false,
            cancelled: [EffectSelection] = [], tasks: [TaskWish] = []
        ) {
            self.effects = former.map { $0.effects + effects } ?? effects
            self.elsewhere = former.map { $0.elsewhere + elsewhere } ?? elsewhere
            self.isSending = isSending || former?.isSending ?? false
            self.cancelled = former.map { $0.cancelled + cancelled } ?? cancelled
            self.tasks = former.map { $0.tasks + tasks } ?? tasks
        }
    }

    @inlinable
    init(_ sync: Facts, extras: Extras? = nil) {
        self.sync = sync
        self.extras = extras
    }

    /// Whether there is anything to apply or to start.
    var requestsAny: Bool { sync.count > 0 || extras != nil }

    /// Nothing: the action is applied and changes no state.
    @inlinable public static var none: Mutations { Mutations(.none) }

    /// One synchronous mutation.
    @inlinable
    public init(_ mutation: Mutation) { self.init(.one(mutation)) }

    // Disfavored, so that a list without a stated type becomes the list initializer below.
    /// One synchronous mutation.
    @inlinable
    @_disfavoredOverload
    public init(sync mutation: Mutation) { self.init(.one(mutation)) }

    /// One synchronous mutation, then effects whose emissions are separate transactions.
    @_disfavoredOverload
    public init(sync mutation: Mutation, async effects: Effect<Mutation>...) {
        self.init(.one(mutation), extras: Extras(effects: effects))
    }

    /// Synchronous mutations, in order.
    @inlinable
    public init(sync mutations: [Mutation]) { self.init(.many(mutations)) }

    /// Synchronous mutations, then effects whose emissions are separate transactions.
    public init(sync mutations: [Mutation] = [], async effects: Effect<Mutation>...) {
        self.init(
            mutations.isEmpty ? .none : .many(mutations), extras: Extras(effects: effects))
    }

    /// Number of synchronous mutations of this reactor.
    @inlinable public var count: Int { sync.count }
}

extension Mutations: ExpressibleByArrayLiteral {
    @inlinable
    public init(arrayLiteral elements: Mutation...) {
        if elements.count == 1 {
            self.init(.one(elements[0]))
        } else {
            self.init(elements.isEmpty ? .none : .many(elements))
        }
    }
}

// MARK: - Other nodes in the same transaction
extension Mutations {
    /// Adds a mutation of a child, applied after this reactor's own.
    public func also<Child: Reactor>(
        _ child: ChildHandle<Child>, _ mutation: Child.Mutation
    ) -> Mutations {
        adding(.mutation(of: child.slot, ErasedMutation<Child>(mutation)))
    }

    /// Adds a mutation of the child under `key`, applied after this reactor's own.
    ///
    /// An action that mutates a missing child is rejected as `NOT_FOUND`. A decision that cannot be
    /// refused (``Reactor/start(state:context:)``, a reaction, the end of a connection) is applied
    /// without this mutation, and ``Reactor/followerRejected(_:state:context:)`` receives the
    /// rejection, else the log.
    public func also<Key: ChildKey, Child: Reactor>(
        _ children: KeyedHandle<Key, Child>, _ key: Key, _ mutation: Child.Mutation
    ) -> Mutations {
        adding(.keyedMutation(of: children.slot, key.pathKey, ErasedMutation<Child>(mutation)))
    }

    /// Adds the creation of a child under `key`.
    ///
    /// An action that creates an existing child is rejected as `CONFLICT`. A decision that cannot
    /// be refused leaves the child as it is, and the log names the key. Where both outcomes are
    /// fine, use ``ensuring(_:_:)``.
    public func creating<Key: ChildKey, Child: Reactor>(
        _ children: KeyedHandle<Key, Child>, _ key: Key
    ) -> Mutations {
        adding(.create(in: children.slot, key.pathKey))
    }

    /// Adds the creation of a child under `key`, unless it exists.
    public func ensuring<Key: ChildKey, Child: Reactor>(
        _ children: KeyedHandle<Key, Child>, _ key: Key
    ) -> Mutations {
        adding(.ensure(in: children.slot, key.pathKey))
    }

    /// Adds the removal of the child under `key` with all nodes below; without such a child,
    /// nothing.
    public func removing<Key: ChildKey, Child: Reactor>(
        _ children: KeyedHandle<Key, Child>, _ key: Key
    ) -> Mutations {
        adding(.remove(in: children.slot, key.pathKey))
    }

    /// Adds a restart of the child under `key`, from its current state: see
    /// ``Reactor/start(state:context:)``. A missing child is handled as in ``also(_:_:_:)``.
    public func restarting<Key: ChildKey, Child: Reactor>(
        _ children: KeyedHandle<Key, Child>, _ key: Key
    ) -> Mutations {
        adding(.restart(in: children.slot, key.pathKey))
    }

    /// Adds an action of a child, which the child's own `mutate` decides in this transaction: see
    /// ``sending(_:to:)-(_,Descendant<Target>)``.
    public func sending<Target: Reactor>(
        _ action: Target.Action, to child: ChildHandle<Target>
    ) -> Mutations {
        sending(action, to: child.descendant)
    }

    /// Adds an action of a reactor below this one, which that reactor's own `mutate` decides in this
    /// transaction, at this place among the requests.
    ///
    ///     Mutations(.started(run)).creating($runs, run).sending(.start, to: $runs[run])
    ///
    /// It sees the state that this reactor's mutations and the earlier requests left. If it is
    /// refused, so is the whole transaction, with its code; the message names the path. A decision
    /// that cannot be refused is applied without the action, and the log names path and code. The
    /// caller, the cause, the effects, timers, ownerships and followers are as if the transaction's
    /// caller had sent it; a reply is dropped, and an action that defers its reply is refused as
    /// `DEFERRED`.
    public func sending<Target: Reactor>(
        _ action: Target.Action, to target: Descendant<Target>
    ) -> Mutations {
        let sent = SentAction(action: action, target: target)
        return Mutations(
            sync, extras: Extras(after: extras, elsewhere: [.send(sent)], isSending: true))
    }

    private func adding(_ change: ElsewhereChange) -> Mutations {
        Mutations(sync, extras: Extras(after: extras, elsewhere: [change]))
    }
}

// MARK: - Effects to start and to cancel
extension Mutations {
    /// Adds an effect.
    public func effect(_ effect: Effect<Mutation>) -> Mutations {
        Mutations(sync, extras: Extras(after: extras, effects: [effect]))
    }

    /// Cancels the effects of this reactor with the name `cancelID`; the tree drops what they still
    /// emit.
    public func cancelling(_ cancelID: String) -> Mutations {
        cancelling(.named(cancelID))
    }

    /// Cancels the effects of this reactor that are bound to its life cycle.
    public func cancellingLifecycle() -> Mutations { cancelling(.lifecycle) }

    private func cancelling(_ selection: EffectSelection) -> Mutations {
        Mutations(sync, extras: Extras(after: extras, cancelled: [selection]))
    }
}
