/// A variable at a fixed address, without run-time checks for exclusive access.
///
/// *Place*: for the few variables of a class that inlined code accesses for every action. For a
/// class's own property, Swift checks each access at run time for an overlap with another; these
/// checks cost more than the rest of an action. The holder must ensure that no call during an
/// access can access the variable again.
@safe
public struct Place<Value: ~Copyable>: ~Copyable {
    @usableFromInline let pointer: UnsafeMutablePointer<Value>

    /// Makes a variable with this value.
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

    /// The current value.
    @inlinable
    public var value: Value {
        @inline(__always) _read { yield unsafe pointer.pointee }
        @inline(__always) nonmutating _modify { yield unsafe &pointer.pointee }
    }
}
