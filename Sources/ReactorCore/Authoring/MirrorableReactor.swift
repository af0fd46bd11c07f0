/// A reactor that a client can mirror by its type alone, since the type makes the instance.
///
///     let visits = try await client.mirror(Counter.self, at: "/visits")
///
/// `@Reactor` adds the conformance where `Self()` compiles: each stored property has a default
/// value, or each parameter of an initializer in the body has. Other reactors implement
/// ``makeForMirror()`` in the body, or are mirrored by an instance.
public protocol MirrorableReactor: Reactor {
    /// Makes an instance for a mirror. The mirror uses its `initialState`, `reduce` and
    /// `transform(state:)`; a mirror that previews actions also mounts its children and uses
    /// `mutate` and the other transforms, on any thread that sends or reads.
    static func makeForMirror() -> Self
}
