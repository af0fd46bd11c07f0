/// A value that belongs to one thread, passed through another thread without being released there.
///
/// *Place*: callbacks capture objects of the owner's thread, which must be released on that thread.
/// The owner takes the value out; the empty box may be released anywhere.
package final class OwnedValue<Value>: Sendable {
    private let content: Guarded<Confined<Value>?>

    /// Wraps `value`. *Owner*: the thread that the value belongs to.
    package init(_ value: Value) { content = Guarded(Confined(value)) }

    /// Returns the value the first time, and nil from then on. *Owner*: the thread that the value
    /// belongs to.
    package func take() -> Value? {
        content.withLock { content in
            defer { content = nil }
            return content
        }?.open()
    }
}
