/// The slice paths of a reactor's static children and collections, by their key paths.
///
///     let table = PathTable<App>()
///     table.path(of: \App.shop.cart)      // /shop/cart
///     table.path(of: \App.shop.$rooms)    // /shop/rooms
///
/// A child's property and its handle lead to the same path. The table contains the children that
/// `@Reactor` finds; for children that a reactor passes to its visitor by hand, the reactor also
/// implements ``Reactor/childPaths(_:)``.
///
/// *Cost*: building it is O(static children). A look-up takes about 100 ns: look a path up once,
/// not for each action.
public struct PathTable<Root: Reactor> {
    private let paths: [AnyKeyPath: SlicePath]

    /// Collects the paths of `Root` and of every reactor below it.
    public init() {
        let entries = PathEntries()
        var visitor = ChildPathVisitor<Root>(prefix: nil, path: .root, entries: entries)
        Root.childPaths(&visitor)
        entries.add(\Root.self, .root)
        paths = entries.paths
    }

    /// The path that `keyPath` leads to; `nil` if it does not lead to a static child.
    public func path(of keyPath: PartialKeyPath<Root>) -> SlicePath? { paths[keyPath] }

    /// Number of key paths in the table.
    package var count: Int { paths.count }

    /// Every path, in ascending order.
    package var allPaths: [SlicePath] {
        Set(paths.values).sorted { $0.components.lexicographicallyPrecedes($1.components) }
    }
}

/// The slice path of a key path through reactors, spelled at compile time.
///
///     #path(\App.shop.cart)                     // /shop/cart
///     #path(\App.shop.$rooms).appending("a")    // /shop/rooms/a
///     #path(\App.shop, \.address.city)          // /shop/address/city
///
/// A child's path component is the name of its property. The compiler checks that the property
/// exists and leads to a reactor, but not that it is marked as a child. A name that begins with a
/// capital letter is taken for a type that encloses the reactor.
@freestanding(expression)
public macro path<Root: Reactor, R: Reactor>(_ reactor: KeyPath<Root, R>) -> SlicePath =
    #externalMacro(module: "ReactorMacros", type: "PathMacro")

/// The slice path of a child, given by its handle.
@freestanding(expression)
public macro path<Root: Reactor, R: Reactor>(_ child: KeyPath<Root, ChildHandle<R>>) -> SlicePath =
    #externalMacro(module: "ReactorMacros", type: "PathMacro")

/// The slice path of a collection of children.
@freestanding(expression)
public macro path<Root: Reactor, Key: ChildKey, R: Reactor>(
    _ children: KeyPath<Root, KeyedHandle<Key, R>>
) -> SlicePath = #externalMacro(module: "ReactorMacros", type: "PathMacro")

/// The slice path of a derived value.
@freestanding(expression)
public macro path<Root: Reactor, Value>(
    _ derived: KeyPath<Root, DerivedHandle<Value>>
) -> SlicePath = #externalMacro(module: "ReactorMacros", type: "PathMacro")

/// The slice path of a part of a reactor's state.
@freestanding(expression)
public macro path<Root: Reactor, R: Reactor, Part>(
    _ reactor: KeyPath<Root, R>, _ part: KeyPath<R.State, Part>
) -> SlicePath = #externalMacro(module: "ReactorMacros", type: "PathMacro")
