/// Carries a non-Sendable value through Sendable closures to the one thread that owns it.
///
/// *Place*: a job posted to a loop needs the connection or session it is about; those live on
/// the loop's thread and are not Sendable.
///
/// The rule: whoever makes one promises that ``open()`` is called only on the thread that owns the
/// value, and that the last reference to the value is released there as well. Nothing checks it.
/// The usual shape is made by the owner, opened by the owner, and merely passed along between:
///
///     let session = Confined(session)
///     journal.append(batch) { handle.post { session.open().batchIsDurable() } }
public struct Confined<Value>: @unchecked Sendable {
    private let value: Value

    /// Wraps `value`, which belongs to the calling thread or is handed to its owner by this.
    public init(_ value: Value) {
        self.value = value
    }

    /// The value. *Owner*: only the thread that owns it may call this.
    public func open() -> Value { value }
}
