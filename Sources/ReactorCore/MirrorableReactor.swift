/// A reactor that a client mirrors by its type alone, for the type makes the instance.
///
///     let visits = try await client.mirror(Counter.self, at: "/visits")
///
/// `@Reactor` adds the conformance where it sees that `Self()` makes one: each stored property has a
/// value, or each parameter of an initializer in the body. Others write ``makeForMirror()`` into
/// the body, or are mirrored by an instance.
public protocol MirrorableReactor: Reactor {
    /// An instance for a mirror, which uses its `initialState`, its `reduce` and its
    /// `transform(state:)`; one that previews actions also mounts its children, and uses `mutate` and
    /// the other transforms, on whatever thread sends or reads.
    static func makeForMirror() -> Self
}
