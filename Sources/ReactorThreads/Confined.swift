/// Carries a non-Sendable value through Sendable closures to the one thread that owns it.
///
/// *Place*: a job posted to a loop needs its connection or session; those live on the loop's thread
/// and are not Sendable.
///
/// The rule: only the thread that owns the value calls ``open()``, and it releases the last
/// reference to the value as well. Where the owner can be recognized, as a loop's thread during a
/// turn can, a debug build checks the call. Typically, the owner makes and opens it, and other
/// threads only pass it along:
///
///     let session = Confined(session) { handle.isOnLoop }
///     journal.append(batch) { handle.post { session.open().batchIsDurable() } }
package struct Confined<Value>: @unchecked Sendable {
    private let value: Value
    #if DEBUG
        private let isOwner: (@Sendable () -> Bool)?
    #endif

    /// Wraps `value`, which belongs to the calling thread, or moves to its owner with this call.
    /// `isOwner` returns whether the calling thread owns the value.
    package init(_ value: Value, isOwner: (@Sendable () -> Bool)? = nil) {
        self.value = value
        #if DEBUG
            self.isOwner = isOwner
        #endif
    }

    /// The value. *Owner*: only the thread that owns the value may call this.
    package func open() -> Value {
        #if DEBUG
            precondition(
                isOwner?() ?? true, "a \(Value.self) is used outside the thread that owns it")
        #endif
        return value
    }
}
