/// The path of a nested reactor, built from properties: the compiler checks it.
///
///     let visits = ReactorPath(Shop.self).child(\.$visits)            // /visits
///     let guests = ReactorPath(Shop.self, at: "/shop")
///         .child(\.$rooms, "kitchen").child(\.$guests)                // /shop/rooms/kitchen/guests
public struct ReactorPath<Target: Reactor>: Sendable {
    /// The path, as it is written in text.
    public let path: SlicePath
    let mount: @Sendable () -> Mounted

    /// The target, mounted in a tree of its own that exists for its types.
    struct Mounted {
        var tree: Tree
        var node: Node<Target>
    }

    /// Starts from a reactor at the path `base`.
    public init(_ type: Target.Type, at base: SlicePath = .root) where Target: MirrorableReactor {
        self.init(at: base) { Target.makeForMirror() }
    }

    /// Starts from a reactor at the path `base` that needs arguments to be made.
    public init(at base: SlicePath = .root, _ make: @escaping @Sendable () -> Target) {
        self.init(base) {
            let tree = Tree(make(), epoch: 0, recordsDeltas: false)
            guard let node = tree.root as? Node<Target> else {
                preconditionFailure("the root has its type")
            }
            return Mounted(tree: tree, node: node)
        }
    }

    private init(_ path: SlicePath, _ mount: @escaping @Sendable () -> Mounted) {
        self.path = path
        self.mount = mount
    }

    /// The static child behind a property such as `\.$visits`.
    public func child<Next: Reactor>(
        _ property: any KeyPath<Target, ChildHandle<Next>> & Sendable
    ) -> ReactorPath<Next> {
        step { $0.node.reactor[keyPath: property].node(below: $0.node) }
    }

    /// The child under `key`, behind a property such as `\.$rooms`.
    ///
    /// *Traps* on a key that no child can have: an empty text, or a text that is too long for a path.
    public func child<Key: ChildKey, Next: Reactor>(
        _ property: any KeyPath<Target, KeyedHandle<Key, Next>> & Sendable, _ key: Key
    ) -> ReactorPath<Next> {
        step { mounted in
            let handle = mounted.node.reactor[keyPath: property]
            let collection = handle.collection(below: mounted.node)
            if handle.node(below: mounted.node, key) == nil,
                let child = collection.makeChild(
                    key.pathKey, number: mounted.tree.nodes.newNumber())
            {
                mounted.tree.insert(child, named: key.pathKey)
            }
            guard let node = handle.node(below: mounted.node, key) else {
                preconditionFailure("\(collection.path) makes no \(Next.self)")
            }
            return node
        }
    }

    /// The path of the collection behind a property such as `\.$rooms`.
    package func collection<Key: ChildKey, Next: Reactor>(
        _ property: any KeyPath<Target, KeyedHandle<Key, Next>> & Sendable
    ) -> SlicePath {
        let mounted = mount()
        let here = mounted.node.path.components.count
        let collection = mounted.node.reactor[keyPath: property].collection(below: mounted.node)
        return SlicePath(path.components + collection.path.components.dropFirst(here))
    }

    private func step<Next: Reactor>(
        _ find: @escaping @Sendable (Mounted) -> Node<Next>
    ) -> ReactorPath<Next> {
        let mount = mount
        let here = mount()
        let below = find(here).path.components.dropFirst(here.node.path.components.count)
        return ReactorPath<Next>(SlicePath(path.components + below)) {
            let mounted = mount()
            return ReactorPath<Next>.Mounted(tree: mounted.tree, node: find(mounted))
        }
    }

    /// An instance of the target's reactor, as its parents make it.
    package func make() -> Target { mount().node.reactor }

    /// Compares with a path in text, in any of its spellings.
    ///
    /// *Throws*: ``ReactorPathMismatch``, which names both.
    package func check(_ text: String) throws(ReactorPathMismatch) {
        if let other = try? SlicePath(text), other == path { return }
        throw ReactorPathMismatch(reactor: "\(Target.self)", properties: path, text: text)
    }
}

/// A path in text differs from the path of the properties.
public struct ReactorPathMismatch: Error, Equatable, Sendable, CustomStringConvertible {
    /// The type of the reactor.
    package var reactor: String
    /// The path of the properties.
    package var properties: SlicePath
    /// The path in text.
    package var text: String

    public var description: String {
        "\(reactor): the properties lead to \(properties), the text says \(text)"
    }
}
