/// A variable at a fixed place in memory, whose holder promises that no two accesses to it overlap.
///
/// *Place*: for the few variables of a class that every action touches from inlined code. A class's
/// own variable is asked there, at run time and at each access, whether somebody else is in the
/// middle of changing it; those questions cost more than the rest of an action. Hold one only where
/// the calls between the beginning and the end of an access cannot come back to it.
@safe
public struct Place<Value: ~Copyable>: ~Copyable {
    @usableFromInline let pointer: UnsafeMutablePointer<Value>

    /// Makes a place that holds `value`.
    @inlinable
    public init(_ value: consuming Value) {
        unsafe pointer = .allocate(capacity: 1)
        unsafe pointer.initialize(to: value)
    }

    @inlinable
    deinit {
        unsafe pointer.deinitialize(count: 1)
        unsafe pointer.deallocate()
    }

    /// What stands there now.
    @inlinable
    public var value: Value {
        @inline(__always) _read { yield unsafe pointer.pointee }
        @inline(__always) nonmutating _modify { yield unsafe &pointer.pointee }
    }
}
