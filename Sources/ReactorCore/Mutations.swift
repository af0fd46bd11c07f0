/// What an action was decided to do: mutations now, and effects that start once those are
/// committed.
///
/// An array literal is a list of synchronous mutations; ``none`` is nothing at all.
public struct Mutations<Mutation: Sendable> {
    @usableFromInline var sync: Facts
    /// Everything that is rare: absent on the common path.
    @usableFromInline var extras: Extras?

    // because one mutation is the common case, and an array of one costs an allocation
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
        var effects: [Effect<Mutation>] = []
        var elsewhere: [ElsewhereChange] = []
        /// What is to be cancelled, before the effects start.
        var cancelled: [EffectSelection] = []
        /// What is to outlive the process.
        var tasks: [TaskWish] = []

        @usableFromInline init() {}

        init(copying other: Extras?) {
            effects = other?.effects ?? []
            elsewhere = other?.elsewhere ?? []
            cancelled = other?.cancelled ?? []
            tasks = other?.tasks ?? []
        }
    }

    @inlinable
    init(_ sync: Facts, extras: Extras? = nil) {
        self.sync = sync
        self.extras = extras
    }

    /// Nothing: the action is applied and changes no state.
    @inlinable public static var none: Mutations { Mutations(.none) }

    /// One synchronous mutation.
    @inlinable
    public init(_ mutation: Mutation) { self.init(.one(mutation)) }

    // A list stays a list where the type of the mutation is not given: it comes first.
    /// One synchronous mutation.
    @inlinable
    @_disfavoredOverload
    public init(sync mutation: Mutation) { self.init(.one(mutation)) }

    /// One synchronous mutation, then effects whose emissions are transactions of their own.
    @_disfavoredOverload
    public init(sync mutation: Mutation, async effects: Effect<Mutation>...) {
        let extras = Extras()
        extras.effects = effects
        self.init(.one(mutation), extras: extras)
    }

    /// Synchronous mutations, in order.
    @inlinable
    public init(sync mutations: [Mutation]) { self.init(.many(mutations)) }

    /// Synchronous mutations, then effects whose emissions are transactions of their own.
    public init(sync mutations: [Mutation] = [], async effects: Effect<Mutation>...) {
        let extras = Extras()
        extras.effects = effects
        self.init(mutations.isEmpty ? .none : .many(mutations), extras: extras)
    }

    /// How many synchronous mutations of this reactor there are.
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

    /// Adds a mutation of the child that stands under `key`, applied after this reactor's own.
    ///
    /// An action that asks for a child which is not there is rejected as `NOT_FOUND`; a decision that
    /// cannot be refused (``Reactor/start(state:)``, a reaction, the end of a connection) goes
    /// without this mutation, and the log names the key.
    public func also<Child: Reactor>(
        _ children: KeyedHandle<Child>, _ key: WireKey, _ mutation: Child.Mutation
    ) -> Mutations {
        adding(.keyedMutation(of: children.slot, key, ErasedMutation<Child>(mutation)))
    }

    /// Adds the creation of a child under `key`.
    ///
    /// An action that creates a child which exists is rejected as `CONFLICT`; a decision that cannot
    /// be refused leaves the child as it is, and the log names the key. Where either is right, use
    /// ``ensuring(_:_:)``.
    public func creating<Child: Reactor>(
        _ children: KeyedHandle<Child>, _ key: WireKey
    ) -> Mutations {
        adding(.create(in: children.slot, key))
    }

    /// Adds the creation of a child under `key`, unless there is one: that stays as it is.
    public func ensuring<Child: Reactor>(
        _ children: KeyedHandle<Child>, _ key: WireKey
    ) -> Mutations {
        adding(.ensure(in: children.slot, key))
    }

    /// Adds the removal of the child under `key` with all below it; nothing where there is none.
    public func removing<Child: Reactor>(
        _ children: KeyedHandle<Child>, _ key: WireKey
    ) -> Mutations {
        adding(.remove(in: children.slot, key))
    }

    /// Adds a new start of the child under `key`, from the state that it has: see
    /// ``Reactor/start(state:)``. A key without a child is treated as by ``also(_:_:_:)``.
    public func restarting<Child: Reactor>(
        _ children: KeyedHandle<Child>, _ key: WireKey
    ) -> Mutations {
        adding(.restart(in: children.slot, key))
    }

    private func adding(_ change: ElsewhereChange) -> Mutations {
        let extras = Extras(copying: extras)
        extras.elsewhere.append(change)
        return Mutations(sync, extras: extras)
    }
}

// MARK: - Effects to come and to end
extension Mutations {
    /// Adds an effect.
    public func effect(_ effect: Effect<Mutation>) -> Mutations {
        let extras = Extras(copying: extras)
        extras.effects.append(effect)
        return Mutations(sync, extras: extras)
    }

    /// Cancels the effects of this reactor that bear the name `cancelID`; what they still emit is
    /// dropped.
    public func cancelling(_ cancelID: String) -> Mutations {
        cancelling(.named(cancelID))
    }

    /// Cancels the effects of this reactor that are bound to its life cycle.
    public func cancellingLifecycle() -> Mutations { cancelling(.lifecycle) }

    private func cancelling(_ selection: EffectSelection) -> Mutations {
        let extras = Extras(copying: extras)
        extras.cancelled.append(selection)
        return Mutations(sync, extras: extras)
    }
}

/// Effects of one node that are to be cancelled.
enum EffectSelection: Hashable {
    case all
    case named(String)
    case lifecycle
    /// What one client's actions started under a name.
    case scoped(CancelScope)
}

/// A change of another node in the transaction of the one that decided it.
enum ElsewhereChange {
    case mutation(of: ChildSlot, any AnyMutation)
    case keyedMutation(of: ChildSlot, WireKey, any AnyMutation)
    case create(in: ChildSlot, WireKey)
    case ensure(in: ChildSlot, WireKey)
    case remove(in: ChildSlot, WireKey)
    case restart(in: ChildSlot, WireKey)
}

/// A mutation whose reactor is known to itself only.
protocol AnyMutation {
    func encode(into writer: inout WireWriter)
    func apply(to node: AnyNode, _ turn: Turn)
}

struct ErasedMutation<Target: Reactor>: AnyMutation {
    let mutation: Target.Mutation

    init(_ mutation: Target.Mutation) { self.mutation = mutation }

    func encode(into writer: inout WireWriter) { mutation.encode(into: &writer) }

    func apply(to node: AnyNode, _ turn: Turn) {
        guard let node = node as? Node<Target> else {
            preconditionFailure("node \(node.path) is not a \(Target.self)")
        }
        node.commit(Mutations(mutation), turn)
    }
}
