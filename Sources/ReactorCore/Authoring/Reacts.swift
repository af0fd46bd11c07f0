/// Calls a function of a reactor for each mutation of a child. The function returns mutations of
/// this reactor, which apply in the child's transaction.
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
/// The parameter `state` is optional, and so is a last parameter `context: ReactorContext<Self>`:
/// see ``Reactor/react(to:state:context:)``. `@Reactor` generates that function from these
/// functions, at most one for each child; an author can implement it directly instead, to handle
/// all changes in one place.
@attached(peer)
public macro Reacts<Parent, R: Reactor>(to child: KeyPath<Parent, ChildHandle<R>>) =
    #externalMacro(module: "ReactorMacros", type: "ReactsMacro")

/// Calls a function of a reactor for each mutation of the children in a collection, with the key
/// in the type of the collection's keys.
@attached(peer)
public macro Reacts<Parent, Key: ChildKey, R: Reactor>(
    to children: KeyPath<Parent, KeyedHandle<Key, R>>
) =
    #externalMacro(module: "ReactorMacros", type: "ReactsMacro")
