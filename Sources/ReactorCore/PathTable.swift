/// The slice paths of a reactor's static children and collections, by the key paths that lead
/// there.
///
///     let table = PathTable<App>()
///     table.path(of: \App.shop.cart)      // /shop/cart
///     table.path(of: \App.shop.$rooms)    // /shop/rooms
///
/// A child is named by its property or by its handle; both lead to the same path. What `@Reactor`
/// did not see is not here: children that a reactor shows to its visitor by hand, unless it writes
/// ``Reactor/childPaths(_:)`` too.
///
/// *Cost*: made once, in proportion to the number of static children; a look-up costs about 100 ns,
/// so look a path up when you begin to use it, and not for each action.
public struct PathTable<Root: Reactor> {
    private let paths: [AnyKeyPath: SlicePath]

    /// Asks `Root` and every reactor below it.
    public init() {
        let entries = PathEntries()
        var visitor = ChildPathVisitor<Root>(prefix: nil, path: .root, entries: entries)
        Root.childPaths(&visitor)
        entries.paths[\Root.self] = .root
        paths = entries.paths
    }

    /// The path that `keyPath` leads to; nothing if no static child stands there.
    public func path(of keyPath: PartialKeyPath<Root>) -> SlicePath? { paths[keyPath] }

    /// How many key paths lead somewhere.
    public var count: Int { paths.count }

    /// Every path, in ascending order.
    public var allPaths: [SlicePath] {
        Set(paths.values).sorted { $0.components.lexicographicallyPrecedes($1.components) }
    }
}

/// What a table is filled with while the reactors are asked.
final class PathEntries {
    var paths: [AnyKeyPath: SlicePath] = [:]
}

/// Receives the key paths of a reactor's children, by which others name them.
public struct ChildPathVisitor<Parent: Reactor> {
    /// The way from the root to the parent; nothing at the root itself.
    let prefix: AnyKeyPath?
    let path: SlicePath
    let entries: PathEntries

    /// Notes a static child, and asks it for its own children.
    public mutating func child<R: Reactor>(
        _ name: WireKey, _ value: KeyPath<Parent, R>, _ handle: KeyPath<Parent, ChildHandle<R>>
    ) {
        let place = path.appending(name)
        guard let value = fromRoot(value) else { return }
        entries.paths[value] = place
        note(handle, place)
        var visitor = ChildPathVisitor<R>(prefix: value, path: place, entries: entries)
        R.childPaths(&visitor)
    }

    /// Notes a collection; what stands under its keys is not known by its type.
    public mutating func children<R: Reactor>(
        _ name: WireKey, _ handle: KeyPath<Parent, KeyedHandle<R>>
    ) {
        note(handle, path.appending(name))
    }

    private func note(_ keyPath: AnyKeyPath, _ place: SlicePath) {
        if let keyPath = fromRoot(keyPath) { entries.paths[keyPath] = place }
    }

    private func fromRoot(_ keyPath: AnyKeyPath) -> AnyKeyPath? {
        prefix.map { $0.appending(path: keyPath) } ?? keyPath
    }
}
