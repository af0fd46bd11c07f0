/// A value of a reactor that the tree computes and keeps up to date: see ``Derivation``.
///
///     /// Runs by phase.
///     @Derived var phases = Derivation.tally(over: \Coordinator.$runs) { $0.phase }
///
/// `$phases` is the handle through which decisions of the reactor read the value.
@propertyWrapper
public struct Derived<Value: WireCodable & Equatable & Sendable> {
    public var wrappedValue: Derivation<Value>
    let slot = ChildSlot()

    /// Holds the rule that computes the value.
    public init(wrappedValue: Derivation<Value>) { self.wrappedValue = wrappedValue }

    public var projectedValue: DerivedHandle<Value> {
        DerivedHandle { [slot] parent in parent.children[slot.name] as? DerivedNode<Value> }
    }
}

/// The rule that computes a derived value: from the state of the reactor that declares it and of its
/// static children, or from the children of a collection.
///
/// The value is a separate node, at the path of its property. The tree brings it up to date
/// within each transaction that changes what it depends on, so every observer of a revision sees it
/// as of that revision. Nothing is kept of it: the daemon computes it again when it starts.
///
/// A function that computes a derived value uses nothing but its arguments.
public struct Derivation<Value: WireCodable & Equatable & Sendable> {
    /// Connects the rule with the node of the reactor that declares the value.
    let begin: (AnyNode) -> DerivationRun<Value>

    init(_ begin: @escaping (AnyNode) -> DerivationRun<Value>) { self.begin = begin }

    /// A function of the reactor's state. It is called at most once for a transaction, if the state
    /// changed.
    ///
    ///     @Derived var summary = Derivation { (state: State) in Summary(of: state) }
    ///
    /// *Traps* when the reactor is mounted, if `State` is that of another reactor.
    public init<State>(_ compute: @escaping (State) -> Value) {
        self.init { parent in
            ComputedRun(of: [parent]) {
                guard let state = parent.readState(as: State.self) else {
                    preconditionFailure("\(parent.path) has no state of type \(State.self)")
                }
                return compute(state)
            }
        }
    }

    /// A function of the reactor's state and of other values: the states of static children, and
    /// derived values that are declared before this one or belong to a static child. It is called
    /// at most once for a transaction, if one of them changed.
    ///
    ///     @Derived var load = Derivation(of: \Shop.$cart, \Shop.$stock) { state, cart, stock in
    ///         Double(cart.count) / Double(stock.count)
    ///     }
    public init<Parent: Reactor, each Source: DerivationSource>(
        of sources: repeat KeyPath<Parent, each Source>,
        compute: @escaping (Parent.State, repeat (each Source).Shown) -> Value
    ) {
        self.init { parent in
            let node = parent.node(of: Parent.self)
            let inputs =
                (repeat node.reactor[keyPath: each sources].derivationInput(below: node))
            var nodes: [AnyNode] = [node]
            for input in repeat each inputs { nodes.append(input.node) }
            return ComputedRun(of: nodes) {
                compute(node.state, repeat (each inputs).read())
            }
        }
    }

    /// A value to which each child of a collection contributes a part. Only changed children are
    /// visited: the tree keeps each child's part, and replaces it in the value.
    ///
    /// `remove` takes back exactly what `add` did with an equal part, in any order. That is not so
    /// for a sum of floating-point numbers, a minimum or a maximum: for these, use `sum`,
    /// ``minimum(over:part:)`` and ``maximum(over:part:)``.
    public init<Parent: Reactor, Key: ChildKey, Child: Reactor, Part: Equatable>(
        over children: KeyPath<Parent, KeyedHandle<Key, Child>>, from initial: Value,
        part: @escaping (Child.State) -> Part, add: @escaping (inout Value, Part) -> Void,
        remove: @escaping (inout Value, Part) -> Void
    ) {
        self.init { parent in
            let node = parent.node(of: Parent.self)
            let collection = node.reactor[keyPath: children].collection(below: node)
            return TotalRun(over: collection, from: initial, add: add, remove: remove) {
                (($0 as? Node<Child>)?.state).map(part)
            }
        }
    }
}

// MARK: - Values that are changed in place
/// A derived value that is changed in place by the parts of its children.
///
///     @WireCodable
///     struct RunStats: DerivedTotal {
///         var running = 0
///         var failed = 0
///
///         mutating func add(_ phase: Phase) { count(phase, 1) }
///         mutating func remove(_ phase: Phase) { count(phase, -1) }
///     }
public protocol DerivedTotal: WireCodable, Equatable, Sendable {
    /// The contribution of one child.
    associatedtype Part: Equatable

    /// The value without children.
    init()

    /// Adds a child's contribution.
    mutating func add(_ part: Part)

    /// Takes back exactly what ``add(_:)`` did with an equal part, in any order.
    mutating func remove(_ part: Part)
}

extension Derivation where Value: DerivedTotal {
    /// A value to which each child of a collection contributes a part, a function of its state.
    ///
    ///     @Derived var stats = Derivation(RunStats.self, over: \Coordinator.$runs) { $0.phase }
    ///
    /// *Cost*: proportional to the number of changed children.
    public init<Parent: Reactor, Key: ChildKey, Child: Reactor>(
        _ type: Value.Type = Value.self, over children: KeyPath<Parent, KeyedHandle<Key, Child>>,
        part: @escaping (Child.State) -> Value.Part
    ) {
        self.init(
            over: children, from: Value(), part: part, add: { $0.add($1) },
            remove: { $0.remove($1) })
    }

    /// A value to which each child of a collection contributes a derived value of its own. With it,
    /// values of nested collections add up.
    ///
    ///     @Derived var stats = Derivation(
    ///         AllStats.self, over: \Root.$projects, parts: \Project.$stats)
    ///
    /// *Cost*: proportional to the number of children whose derived value changed.
    public init<Parent: Reactor, Key: ChildKey, Child: Reactor>(
        _ type: Value.Type = Value.self, over children: KeyPath<Parent, KeyedHandle<Key, Child>>,
        parts: KeyPath<Child, DerivedHandle<Value.Part>>
    ) {
        self.init { parent in
            let node = parent.node(of: Parent.self)
            let collection = node.reactor[keyPath: children].collection(below: node)
            let find = { (child: AnyNode) in
                (child as? Node<Child>).flatMap { $0.reactor[keyPath: parts].find($0) }
            }
            return TotalRun(
                over: collection, from: Value(), add: { $0.add($1) }, remove: { $0.remove($1) },
                source: find
            ) { find($0)?.value }
        }
    }
}

// MARK: - Counting
extension Derivation {
    /// The number of children of a collection that match a condition, by default of all.
    ///
    ///     @Derived var open = Derivation.count(over: \Tracker.$issues) { $0.isOpen }
    public static func count<Parent: Reactor, Key: ChildKey, Child: Reactor>(
        over children: KeyPath<Parent, KeyedHandle<Key, Child>>,
        where isCounted: @escaping (Child.State) -> Bool = { _ in true }
    ) -> Derivation<Int> where Value == Int {
        Derivation<Int>(
            over: children, from: 0, part: isCounted, add: { $0 += $1 ? 1 : 0 },
            remove: { $0 -= $1 ? 1 : 0 })
    }

    /// The sum of an integer of each child of a collection; it wraps around on overflow.
    public static func sum<Parent: Reactor, Key: ChildKey, Child: Reactor>(
        over children: KeyPath<Parent, KeyedHandle<Key, Child>>,
        part: @escaping (Child.State) -> Value
    ) -> Derivation<Value> where Value: FixedWidthInteger {
        Derivation(
            over: children, from: 0, part: part, add: { $0 &+= $1 }, remove: { $0 &-= $1 })
    }

    /// The sum of a floating-point number of each child of a collection. The tree keeps the exact
    /// sum and rounds only the shown value, so neither the order of the changes nor removed numbers
    /// influence it. Of infinities and what is not a number, the result is that of an addition.
    ///
    ///     @Derived var hours = Derivation.sum(over: \Tracker.$issues) { $0.hours }
    ///
    /// *Cost*: proportional to the number of changed children.
    public static func sum<Parent: Reactor, Key: ChildKey, Child: Reactor>(
        over children: KeyPath<Parent, KeyedHandle<Key, Child>>,
        part: @escaping (Child.State) -> Value
    ) -> Derivation<Value> where Value: BinaryFloatingPoint {
        summing(children, ExactSum<Value>(), part)
    }

    /// The least of a value of each child of a collection; `nil` without children.
    ///
    ///     @Derived var oldest = Derivation.minimum(over: \Tracker.$issues) { $0.opened }
    ///
    /// *Cost*: proportional to the number of changed children. If the last child with the least
    /// value leaves or has another one, O(children).
    public static func minimum<Parent: Reactor, Key: ChildKey, Child: Reactor, Part>(
        over children: KeyPath<Parent, KeyedHandle<Key, Child>>,
        part: @escaping (Child.State) -> Part
    ) -> Derivation<Part?>
    where Part: Comparable & WireCodable & Sendable, Value == Part? {
        summing(children, ExtremePart { $0 < $1 }, part)
    }

    /// The greatest of a value of each child of a collection; `nil` without children. It costs as
    /// much as ``minimum(over:part:)``.
    public static func maximum<Parent: Reactor, Key: ChildKey, Child: Reactor, Part>(
        over children: KeyPath<Parent, KeyedHandle<Key, Child>>,
        part: @escaping (Child.State) -> Part
    ) -> Derivation<Part?>
    where Part: Comparable & WireCodable & Sendable, Value == Part? {
        summing(children, ExtremePart { $0 > $1 }, part)
    }

    private static func summing<
        Parent: Reactor, Key: ChildKey, Child: Reactor, Summary: PartSummary<Part>, Part
    >(
        _ children: KeyPath<Parent, KeyedHandle<Key, Child>>, _ summary: Summary,
        _ part: @escaping (Child.State) -> Part
    ) -> Derivation where Summary.Value == Value {
        Derivation { parent in
            let node = parent.node(of: Parent.self)
            let collection = node.reactor[keyPath: children].collection(below: node)
            return SummaryRun(over: collection, summary) {
                (($0 as? Node<Child>)?.state).map(part)
            }
        }
    }

    /// The number of children of a collection with each value of a property; without an entry for a
    /// value that no child has.
    ///
    ///     @Derived var phases = Derivation.tally(over: \Coordinator.$runs) { $0.phase }
    public static func tally<Parent: Reactor, Key: ChildKey, Child: Reactor, Group>(
        over children: KeyPath<Parent, KeyedHandle<Key, Child>>,
        by group: @escaping (Child.State) -> Group
    ) -> Derivation<[Group: Int]> where Group: WireMapKey & Sendable, Value == [Group: Int] {
        Derivation<[Group: Int]>(
            over: children, from: [:], part: group, add: { $0[$1, default: 0] += 1 },
            remove: { groups, group in
                let count = groups[group, default: 0] - 1
                groups[group] = count == 0 ? nil : count
            })
    }
}

// MARK: - Mounting
extension ChildVisitor {
    /// Mounts a derived value, after the children and the derived values that it depends on.
    public mutating func derived<Value>(
        _ name: WireKey, _ derived: Derived<Value>, documentation: String = ""
    ) {
        derived.slot.setName(name)
        mount(name) { parent, tree in
            DerivedNode(
                derived.wrappedValue.begin(parent), of: DerivedValue<Value>.form,
                at: parent.children.values.count { $0.isDerived }, documentation,
                number: tree.nodes.newDerivedNumber(), path: parent.path.appending(name),
                parent: parent)
        }
    }
}

extension ChildPathVisitor {
    /// Adds a derived value.
    public mutating func derived<Value>(
        _ name: WireKey, _ handle: KeyPath<Parent, DerivedHandle<Value>>
    ) {
        leaf(name, handle)
    }
}

extension ReactorPath {
    /// The path of the derived value behind a property such as `\.$stats`.
    package func derived<Value>(
        _ property: any KeyPath<Target, DerivedHandle<Value>> & Sendable
    ) -> SlicePath {
        let mounted = mount()
        let here = mounted.node.path.components.count
        let node = mounted.node.reactor[keyPath: property].node(below: mounted.node)
        return SlicePath(path.components + node.path.components.dropFirst(here))
    }
}

// MARK: - Mirrors
/// The reactor of a derived value, as a client mirrors it: its state is the value, and it has no
/// actions.
///
///     let stats: Mirror<DerivedValue<RunStats>> = try await client.mirror(
///         derived: RunStats.self, at: "/stats")
public struct DerivedValue<Value: WireCodable & Equatable & Sendable>: Reactor {
    public typealias Action = NoReply
    public typealias Mutation = NoReply
    public typealias State = Value

    /// The value that a mirror shows before the daemon's value has arrived.
    public let initialState: Value

    /// Starts from a value.
    package init(_ value: Value) { initialState = value }
}

extension DerivedValue: RecordedUnderName {
    static var recordedName: String { "derived \(Value.self)" }
}

// MARK: - Sources
/// A value that a derived value may depend on: the state of a static child, or another derived
/// value.
public protocol DerivationSource {
    /// The type of the value.
    associatedtype Shown

    /// Finds the value below the node of the reactor that declares the derivation; not for authors.
    func derivationInput(below parent: AnyNode) -> DerivationInput<Shown>
}

/// A value that a derived value depends on, in a mounted tree; not for authors.
public struct DerivationInput<Shown> {
    let node: AnyNode
    let read: () -> Shown
}

extension ChildHandle: DerivationSource {
    public func derivationInput(below parent: AnyNode) -> DerivationInput<R.State> {
        let node = node(below: parent)
        return DerivationInput(node: node) { node.state }
    }
}

/// A derived value, seen from the reactor that declares it.
public struct DerivedHandle<Value: WireCodable & Equatable & Sendable> {
    /// Finds the value below the node of the reactor.
    let find: (AnyNode) -> DerivedNode<Value>?

    /// The node that shows the value, below the node of the reactor; `nil` if that has none.
    package func shown(below parent: AnyNode) -> AnyNode? { find(parent) }

    func node(below parent: AnyNode) -> DerivedNode<Value> {
        guard let node = find(parent) else {
            preconditionFailure(
                "\(parent.path) has no derived \(Value.self) here: a derived value may read those "
                    + "that are declared before it")
        }
        return node
    }
}

extension DerivedHandle: DerivationSource {
    public func derivationInput(below parent: AnyNode) -> DerivationInput<Value> {
        let node = node(below: parent)
        return DerivationInput(node: node) { node.value }
    }
}

extension ChildHandle {
    /// A derived value of the child.
    public subscript<Value>(
        dynamicMember derived: KeyPath<R, DerivedHandle<Value>>
    ) -> DerivedHandle<Value> {
        DerivedHandle { [self] parent in
            let child = node(below: parent)
            return child.reactor[keyPath: derived].find(child)
        }
    }
}

/// A derived value of a reactor below: see ``Descendant``.
public struct DescendantValue<Value: WireCodable & Equatable & Sendable> {
    /// Finds the value below the node of the reactor that names it.
    let find: (AnyNode) throws(MissingNode) -> DerivedNode<Value>
}

extension Descendant {
    /// A derived value of this reactor.
    public subscript<Value>(
        dynamicMember derived: KeyPath<R, DerivedHandle<Value>>
    ) -> DescendantValue<Value> {
        DescendantValue { [find] origin throws(MissingNode) in
            let parent = try find(origin)
            return parent.reactor[keyPath: derived].node(below: parent)
        }
    }
}

extension ReactorContext {
    /// A derived value of a reactor below this one, with all changes of the transaction so far;
    /// `nil` if a key on the way has no child.
    ///
    ///     let runs = context.value(of: $projects[name].$stats)
    public func value<Value>(of derived: DescendantValue<Value>) -> Value? {
        turn.askDaemon()
        turn.refreshDerived()
        return (try? derived.find(node))?.value
    }

    /// A derived value, with all changes of the transaction so far.
    public func value<Value>(of derived: DerivedHandle<Value>) -> Value {
        turn.askDaemon()
        turn.refreshDerived()
        return derived.node(below: node).value
    }
}

extension AnyNode {
    fileprivate func node<R: Reactor>(of type: R.Type) -> Node<R> {
        guard let node = self as? Node<R> else {
            preconditionFailure(
                "\(path) is a \(reactorName), and its derived value is of \(R.self)")
        }
        return node
    }
}
