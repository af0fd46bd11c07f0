/// Carries a non-Sendable value through Sendable closures to the one thread that owns it.
///
/// *Place*: a job posted to a loop needs its connection or session; those live on the loop's thread
/// and are not Sendable.
///
/// The rule: only the thread that owns the value calls ``open()``, and it releases the last
/// reference to the value as well. Nothing checks this. Typically, the owner makes and opens it,
/// and other threads only pass it along:
///
///     let session = Confined(session)
///     journal.append(batch) { handle.post { session.open().batchIsDurable() } }
package struct Confined<Value>: @unchecked Sendable {
    private let value: Value

    /// Wraps `value`, which belongs to the calling thread, or moves to its owner with this call.
    package init(_ value: Value) {
        self.value = value
    }

    /// The value. *Owner*: only the thread that owns the value may call this.
    package func open() -> Value { value }
}
