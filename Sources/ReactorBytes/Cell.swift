/// A variable at a fixed address, without run-time checks for exclusive access.
///
/// *Place*: for the few variables of a class that inlined code accesses for every action. For a
/// class's own property, Swift checks each access at run time for an overlap with another; these
/// checks cost more than the rest of an action. The holder must ensure that no call during an
/// access can access the variable again.
///
/// *Traps* in debug builds: if a change overlaps with another access.
@safe
@usableFromInline package struct Cell<Value: ~Copyable>: ~Copyable {
    @usableFromInline let pointer: UnsafeMutablePointer<Value>
    #if DEBUG
        /// Number of reads under way; -1 during a change.
        @usableFromInline let accesses: UnsafeMutablePointer<Int>
    #endif

    /// Makes a variable with this value.
    @inlinable
    package init(_ value: consuming Value) {
        unsafe pointer = .allocate(capacity: 1)
        unsafe pointer.initialize(to: value)
        #if DEBUG
            unsafe accesses = .allocate(capacity: 1)
            unsafe accesses.initialize(to: 0)
        #endif
    }

    @inlinable
    deinit {
        unsafe pointer.deinitialize(count: 1)
        unsafe pointer.deallocate()
        #if DEBUG
            unsafe accesses.deallocate()
        #endif
    }

    /// The current value.
    @inlinable
    package var value: Value {
        @inline(__always) _read {
            #if DEBUG
                beginRead()
                defer { endRead() }
            #endif
            yield unsafe pointer.pointee
        }
        @inline(__always) nonmutating _modify {
            #if DEBUG
                beginChange()
                defer { endChange() }
            #endif
            yield unsafe &pointer.pointee
        }
    }

    #if DEBUG
        @usableFromInline
        func beginRead() {
            let count = unsafe accesses.pointee
            precondition(count >= 0, "a \(Value.self) is read while it is being changed")
            unsafe accesses.pointee = count + 1
        }

        @usableFromInline
        func endRead() { unsafe accesses.pointee -= 1 }

        @usableFromInline
        func beginChange() {
            let count = unsafe accesses.pointee
            precondition(count == 0, "a \(Value.self) is changed during another access to it")
            unsafe accesses.pointee = -1
        }

        @usableFromInline
        func endChange() { unsafe accesses.pointee = 0 }
    #endif
}
