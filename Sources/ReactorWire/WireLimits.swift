/// The ceilings of the format itself, the same for every peer.
///
/// Limits that an operator may set (frame size, budgets, counts per connection) are
/// ``WireLimits``' siblings in the server; they are told in the welcome message.
public enum WireLimits {
    // because what is made of an action stands deeper: in a mutation, in a state, in a tree of them
    /// Deepest nesting of arrays, maps and tags that a decoder follows; a deeper value is refused.
    public static let depthMax = 128
    /// Deepest nesting of an action that a client sends.
    public static let actionDepthMax = 40
    /// Largest frame body in bytes that a peer accepts unless the welcome says otherwise.
    public static let frameBytesMax = 1 << 20
    /// Largest frame body in bytes that a daemon sends; a client accepts at least that.
    public static let daemonFrameBytesMax = 8 << 20
    /// Longest slice path in bytes, before percent-decoding.
    public static let pathBytesMax = 4_096
    /// Most components of a slice path.
    public static let pathComponentsMax = 64
}
