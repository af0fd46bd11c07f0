/// A reactor that is part of another, at a fixed name.
///
///     @Child var visits = Counter()
///
/// `$visits` is the handle through which the parent reads the child's state and addresses
/// mutations.
@propertyWrapper
public struct Child<R: Reactor> {
    public var wrappedValue: R
    let slot = ChildSlot()

    /// Holds a reactor as a child.
    public init(wrappedValue: R) { self.wrappedValue = wrappedValue }

    public var projectedValue: ChildHandle<R> { ChildHandle(slot: slot) }
}

/// Reactors of one type that are part of another, one per key.
///
///     @Children var rooms = { (key: WireKey) in Room(named: key.text) }
///     @Children var runs = { (id: Int) in Run(id) }
///
/// The type of the keys is that of the function's parameter: any ``ChildKey``. A key's text is the
/// child's component in paths. The tree refuses text that is no key of the type: `/runs/07` does
/// not lead to `/runs/7`, and no child can have that path.
///
/// The parent creates and removes them with ``Mutations/creating(_:_:)`` and
/// ``Mutations/removing(_:_:)``. With `@Children(.leased)`, clients create and hold children by
/// leases as well: see ``LeaseAction``.
@propertyWrapper
public struct Children<Key: ChildKey, R: Reactor> {
    /// Makes the reactor for a key.
    public var wrappedValue: (Key) -> R
    let slot = ChildSlot()
    let lifetime: ChildLifetime

    /// Holds the children that the function makes.
    public init(wrappedValue: @escaping (Key) -> R) {
        self.init(wrappedValue: wrappedValue, .decided)
    }

    /// Holds the children that the function makes, with the given lifetime.
    public init(wrappedValue: @escaping (Key) -> R, _ lifetime: ChildLifetime) {
        self.wrappedValue = wrappedValue
        self.lifetime = lifetime
    }

    public var projectedValue: KeyedHandle<Key, R> { KeyedHandle(slot: slot) }
}

// A function that does not state the type of its keys receives them as text.
extension Children where Key == WireKey {
    /// Holds the children that the function makes, by keys of any text.
    public init(wrappedValue: @escaping (WireKey) -> R) {
        self.init(wrappedValue: wrappedValue, .decided)
    }

    /// Holds the children that the function makes, by keys of any text, with the given lifetime.
    public init(wrappedValue: @escaping (WireKey) -> R, _ lifetime: ChildLifetime) {
        self.wrappedValue = wrappedValue
        self.lifetime = lifetime
    }
}

/// The name of a child; the tree fills it in when it mounts the parent.
final class ChildSlot {
    private(set) var name: WireKey = ""

    func setName(_ name: WireKey) { self.name = name }
}

/// A static child, seen from its parent.
@dynamicMemberLookup
public struct ChildHandle<R: Reactor> {
    let slot: ChildSlot

    /// The child's name below its parent.
    package var name: WireKey { slot.name }

    func node(below parent: AnyNode) -> Node<R> {
        guard let node = parent.children[slot.name] as? Node<R> else {
            preconditionFailure("\(parent.path) has no child of type \(R.self) here")
        }
        return node
    }
}

/// A collection of children, seen from its parent.
public struct KeyedHandle<Key: ChildKey, R: Reactor> {
    let slot: ChildSlot

    /// The collection's name below its parent.
    package var name: WireKey { slot.name }

    func collection(below parent: AnyNode) -> AnyNode {
        guard let node = parent.children[slot.name] else {
            preconditionFailure("\(parent.path) has no collection of \(R.self) here")
        }
        return node
    }

    func node(below parent: AnyNode, _ key: Key) -> Node<R>? {
        collection(below: parent).children[key.pathKey] as? Node<R>
    }
}

/// A reactor below another, named by the other's handles.
///
///     $total                      // a static child: its handle is enough
///     $projects[name]             // the child under a key
///     $projects[name].$runs[run]  // and further down, by the handles that the child declares
///
/// ``Mutations/sending(_:to:)-(_,Descendant<Target>)`` and
/// ``ReactorContext/dispatch(_:to:)-(_,Descendant<Target>)`` take it. The tree finds the reactor
/// when it delivers the action, so an earlier request of the same decision may create it.
/// ``ReactorContext/state(of:)-(Descendant<Target>)`` reads its state.
@dynamicMemberLookup
public struct Descendant<R: Reactor> {
    /// Finds the reactor below the node of the reactor that names it.
    let find: (AnyNode) throws(MissingNode) -> Node<R>

    /// The reactor that names it.
    static var itself: Descendant {
        Descendant { node throws(MissingNode) in
            guard let node = node as? Node<R> else { throw MissingNode(node.path) }
            return node
        }
    }

    /// A static child of this reactor, by its handle.
    public subscript<Next: Reactor>(
        dynamicMember child: KeyPath<R, ChildHandle<Next>>
    ) -> Descendant<Next> {
        Descendant<Next> { [find] origin throws(MissingNode) in
            let parent = try find(origin)
            return parent.reactor[keyPath: child].node(below: parent)
        }
    }

    /// A collection of this reactor, by its handle; a key leads to one of its children.
    public subscript<Key: ChildKey, Next: Reactor>(
        dynamicMember children: KeyPath<R, KeyedHandle<Key, Next>>
    ) -> DescendantCollection<Key, Next> {
        DescendantCollection { [find] origin throws(MissingNode) in
            let parent = try find(origin)
            return parent.reactor[keyPath: children].collection(below: parent)
        } child: { [find] key in
            Descendant<Next> { origin throws(MissingNode) in
                let parent = try find(origin)
                return try parent.reactor[keyPath: children].found(below: parent, key)
            }
        }
    }
}

/// A collection of children of a ``Descendant``.
public struct DescendantCollection<Key: ChildKey, R: Reactor> {
    /// Finds the collection below the node of the reactor that names it.
    let find: (AnyNode) throws(MissingNode) -> AnyNode
    let child: (Key) -> Descendant<R>

    /// The child under `key`.
    public subscript(key: Key) -> Descendant<R> { child(key) }
}

extension ChildHandle {
    /// The child as the target of an action.
    var descendant: Descendant<R> {
        Descendant { [self] parent throws(MissingNode) in node(below: parent) }
    }

    /// A static child of the child: see ``Descendant``.
    public subscript<Next: Reactor>(
        dynamicMember child: KeyPath<R, ChildHandle<Next>>
    ) -> Descendant<Next> { descendant[dynamicMember: child] }

    /// A collection of the child: see ``Descendant``.
    public subscript<Key: ChildKey, Next: Reactor>(
        dynamicMember children: KeyPath<R, KeyedHandle<Key, Next>>
    ) -> DescendantCollection<Key, Next> { descendant[dynamicMember: children] }
}

extension KeyedHandle {
    /// The child under `key`, as the target of an action.
    public subscript(key: Key) -> Descendant<R> {
        Descendant { [self] parent throws(MissingNode) in try found(below: parent, key) }
    }

    fileprivate func found(below parent: AnyNode, _ key: Key) throws(MissingNode) -> Node<R> {
        if let found = node(below: parent, key) { return found }
        let collection = collection(below: parent).path
        throw MissingNode(
            collection.appending(key.pathKey), .noChild(key.pathKey, in: collection))
    }
}

/// A child's mutation, as its parent sees it.
public struct ChildChange {
    let child: AnyNode
    let mutation: any Sendable

    /// The mutation, if `child` made it.
    public func mutation<R: Reactor>(of child: ChildHandle<R>) -> R.Mutation? {
        // A keyed child may have the same name as a static child.
        guard self.child.name == child.slot.name, self.child.parent?.isCollection != true
        else { return nil }
        return mutation as? R.Mutation
    }

    /// The key and the mutation, if a child of this collection made it.
    public func mutation<Key: ChildKey, R: Reactor>(
        of children: KeyedHandle<Key, R>
    ) -> (key: Key, mutation: R.Mutation)? {
        guard let collection = child.parent, collection.isCollection,
            collection.name == children.slot.name, let mutation = mutation as? R.Mutation,
            let key = Key(wireKeyText: child.name.text)
        else { return nil }
        return (key, mutation)
    }
}

/// A child that was created in a collection, or removed from it, as its parent sees it.
///
///     func childrenChanged(
///         _ change: ChildrenChange, state: State, context: ReactorContext<Self>
///     ) -> Mutations<Mutation> {
///         if let room = change.created(in: $rooms) { return [.opened(room)] }
///         if let room = change.removed(in: $rooms) { return [.closed(room)] }
///         return .none
///     }
public struct ChildrenChange {
    let collection: AnyNode
    let key: WireKey
    let isCreation: Bool

    /// The key of the child, if it was created in this collection.
    public func created<Key: ChildKey, R: Reactor>(
        in children: KeyedHandle<Key, R>
    ) -> Key? {
        isCreation ? key(in: children) : nil
    }

    /// The key of the child, if it was removed from this collection.
    public func removed<Key: ChildKey, R: Reactor>(
        in children: KeyedHandle<Key, R>
    ) -> Key? {
        isCreation ? nil : key(in: children)
    }

    private func key<Key: ChildKey, R: Reactor>(
        in children: KeyedHandle<Key, R>
    ) -> Key? {
        collection.name == children.slot.name ? Key(wireKeyText: key.text) : nil
    }
}

/// Receives the children of a reactor: mounts them, or collects their names.
public struct ChildVisitor {
    private let place: (parent: AnyNode, tree: Tree)?
    /// The received names; empty while mounting.
    private(set) var names: Set<WireKey> = []

    /// Makes a visitor that mounts the children.
    init(parent: AnyNode, tree: Tree) { place = (parent, tree) }

    /// Makes a visitor that collects names.
    init() { place = nil }

    /// Mounts a static child.
    public mutating func child<R: Reactor>(_ name: WireKey, _ child: Child<R>) {
        child.slot.setName(name)
        self.child(name, child.wrappedValue)
    }

    /// Mounts an empty collection.
    public mutating func children<Key: ChildKey, R: Reactor>(
        _ name: WireKey, _ children: Children<Key, R>
    ) {
        children.slot.setName(name)
        guard let (parent, tree) = place else { return note(name) }
        tree.mountCollection(
            of: children.wrappedValue, isLeased: children.lifetime == .leased, named: name,
            below: parent)
    }

    /// Mounts the node that `make` returns.
    mutating func mount(_ name: WireKey, _ make: (_ parent: AnyNode, _ tree: Tree) -> AnyNode) {
        guard let (parent, tree) = place else { return note(name) }
        tree.insert(make(parent, tree), named: name)
    }

    /// Mounts a reactor whose type is known only at run time.
    public mutating func child(_ name: WireKey, _ reactor: any Reactor) {
        guard let (parent, tree) = place else { return note(name) }
        tree.mount(reactor, named: name, below: parent)
    }

    private mutating func note(_ name: WireKey) { names.insert(name) }
}

/// An error of a child, as its parent sees it.
public struct ChildFailure {
    let child: AnyNode
    /// The error that an effect of the child threw.
    public let error: any Error

    /// Whether `child` failed.
    public func isOf<R: Reactor>(_ child: ChildHandle<R>) -> Bool {
        self.child.name == child.slot.name && self.child.parent?.isCollection != true
    }

    /// The key, if a child of this collection failed.
    public func key<Key: ChildKey, R: Reactor>(in children: KeyedHandle<Key, R>) -> Key? {
        guard let collection = child.parent, collection.isCollection,
            collection.name == children.slot.name
        else { return nil }
        return Key(wireKeyText: child.name.text)
    }
}

/// The entries of a table while it is filled.
final class PathEntries {
    private(set) var paths: [AnyKeyPath: SlicePath] = [:]
    /// The types of the children, if these are collected instead of paths.
    private(set) var types: [ChildType]?

    /// Collects paths, or the types of the children of one reactor.
    init(ofTypes: Bool = false) { if ofTypes { types = [] } }

    /// Adds a child's type; returns whether types are collected.
    func add(_ type: ChildType) -> Bool {
        types?.append(type)
        return types != nil
    }

    /// Adds the path that a key path from the root leads to.
    func add(_ keyPath: AnyKeyPath, _ path: SlicePath) { paths[keyPath] = path }
}

/// The name and the type of a reactor's static child, or of a collection with the type of its
/// children.
package struct ChildType {
    /// The name of the property.
    package let name: WireKey
    /// The child's type, or that of the children of a collection.
    package let type: any Reactor.Type
    /// Whether it is a collection.
    package let isCollection: Bool
}

extension Reactor {
    /// The types of the children that the reactor's properties declare, without any reactor.
    package static var childTypes: [ChildType] {
        let entries = PathEntries(ofTypes: true)
        var visitor = ChildPathVisitor<Self>(prefix: nil, path: .root, entries: entries)
        childPaths(&visitor)
        return entries.types ?? []
    }
}

/// Receives the key paths of a reactor's children, for a ``PathTable``.
public struct ChildPathVisitor<Parent: Reactor> {
    /// The key path from the root to the parent; `nil` at the root itself.
    let prefix: AnyKeyPath?
    let path: SlicePath
    let entries: PathEntries

    /// Adds a static child and the children below it.
    public mutating func child<R: Reactor>(
        _ name: WireKey, _ value: KeyPath<Parent, R>, _ handle: KeyPath<Parent, ChildHandle<R>>
    ) {
        if entries.add(ChildType(name: name, type: R.self, isCollection: false)) { return }
        let place = path.appending(name)
        guard let value = fromRoot(value) else { return }
        entries.add(value, place)
        note(handle, place)
        var visitor = ChildPathVisitor<R>(prefix: value, path: place, entries: entries)
        R.childPaths(&visitor)
    }

    /// Adds a collection. The table cannot contain its children, whose keys are run-time values.
    public mutating func children<Key: ChildKey, R: Reactor>(
        _ name: WireKey, _ handle: KeyPath<Parent, KeyedHandle<Key, R>>
    ) {
        if entries.add(ChildType(name: name, type: R.self, isCollection: true)) { return }
        note(handle, path.appending(name))
    }

    /// Adds a node without children, by its handle.
    func leaf(_ name: WireKey, _ handle: PartialKeyPath<Parent>) {
        note(handle, path.appending(name))
    }

    private func note(_ keyPath: AnyKeyPath, _ place: SlicePath) {
        if let keyPath = fromRoot(keyPath) { entries.add(keyPath, place) }
    }

    private func fromRoot(_ keyPath: AnyKeyPath) -> AnyKeyPath? {
        prefix.map { $0.appending(path: keyPath) } ?? keyPath
    }
}
