/// A reference to an object that it does not keep alive and does not count.
///
///     let shell = Unretained(self)
///     loop.onTurnEnd = { shell.with { $0.endTurn() } }
///     deinit { loop.onTurnEnd = nil }
///
/// *Place*: for closures that run for every turn. Swift counts each use of an `unowned` reference.
/// *Owner*: the object removes every use of the reference before it is released, and is not
/// released during a call of ``with(_:)``.
@safe
package struct Unretained<Object: AnyObject> {
    @usableFromInline let reference: Unmanaged<Object>

    /// Refers to `object`.
    @inlinable
    package init(_ object: Object) { unsafe reference = .passUnretained(object) }

    /// Calls `body` with the object.
    @inlinable @inline(__always)
    package func with<Result>(_ body: (Object) -> Result) -> Result {
        unsafe reference._withUnsafeGuaranteedRef { body($0) }
    }
}
