/// The limits of the format itself, the same for every peer.
///
/// Limits that an operator can set (frame size, budgets, counts per connection) belong to the
/// server; the welcome message contains them.
@usableFromInline package enum WireLimits {
    // Larger than `actionDepthMax`: an action's data ends up deeper, inside a mutation, a state, a
    // tree.
    /// Maximum nesting of arrays, maps and tags; a decoder refuses a deeper value.
    @usableFromInline package static let depthMax = 128
    /// Maximum nesting of a client's action.
    @usableFromInline package static let actionDepthMax = 40
    /// Maximum frame body in bytes that a peer accepts, unless the welcome says otherwise.
    package static let frameBytesMax = 1 << 20
    /// Maximum frame body in bytes that a daemon sends; a client accepts at least this.
    package static let daemonFrameBytesMax = 8 << 20
    /// Maximum length of a slice path in bytes, before percent-decoding.
    package static let pathBytesMax = 4_096
    /// Maximum components of a slice path.
    package static let pathComponentsMax = 64
    /// Maximum nesting of a selection's condition.
    package static let selectionDepthMax = 16
    /// Maximum number of a selection's conditions, and of the values that they compare with.
    package static let selectionTermsMax = 256
    /// Maximum number of parts of a selection's order.
    package static let selectionOrdersMax = 8
    /// Maximum number of children that a limited selection shows.
    package static let selectionFirstMax = 65_536
}
