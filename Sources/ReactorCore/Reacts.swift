/// Tells a function of a reactor of each mutation of a child: what it returns are mutations of
/// this reactor, in the child's transaction.
///
///     @Reactor
///     struct Shop {
///         @Child var visits = Counter()
///         @Children var rooms = { (key: WireKey) in Room(named: key.text) }
///
///         @Reacts(to: \Shop.$visits)
///         func visited(_ mutation: Counter.Mutation, state: State) -> Mutations<Mutation> {
///             state.isOpen ? .none : [.opened]
///         }
///
///         @Reacts(to: \Shop.$rooms)
///         func changed(
///             _ mutation: Room.Mutation, key: WireKey, state: State
///         ) -> Mutations<Mutation> {
///             [.noted(key.text)]
///         }
///     }
///
/// `state` may be left out. `@Reactor` writes ``Reactor/react(to:state:)`` from these functions,
/// one for each child; an author who wants to see all changes in one place writes that instead.
@attached(peer)
public macro Reacts<Parent, R: Reactor>(to child: KeyPath<Parent, ChildHandle<R>>) =
    #externalMacro(module: "ReactorMacros", type: "ReactsMacro")

/// Tells a function of a reactor of each mutation of the children in a collection, with the key.
@attached(peer)
public macro Reacts<Parent, R: Reactor>(to children: KeyPath<Parent, KeyedHandle<R>>) =
    #externalMacro(module: "ReactorMacros", type: "ReactsMacro")
