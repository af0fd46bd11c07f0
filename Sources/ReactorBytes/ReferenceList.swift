/// References to objects, in order, with exactly one owner.
///
/// *Place*: each turn of the daemon visits the connections with output several times. A loop over an
/// array retains the array and each object that it visits, since the array might be changed during
/// the loop. This list cannot change while it is visited, so it keeps its objects alive for the
/// visitor.
@safe
@usableFromInline package struct ReferenceList<Object: AnyObject>: ~Copyable {
    @usableFromInline var references: [Unmanaged<Object>] = unsafe []

    /// Makes an empty list.
    @inlinable package init() {}

    @inlinable
    deinit {
        for index in 0..<count { unsafe references[index].release() }
    }

    /// Number of objects.
    @inlinable package var count: Int { unsafe references.count }

    /// Whether it has no objects.
    @inlinable package var isEmpty: Bool { unsafe references.isEmpty }

    /// Whether it has memory for an object without an allocation.
    @inlinable package var hasCapacity: Bool { unsafe references.capacity > 0 }

    /// The objects, in order. *Cost*: copies and retains them.
    package var objects: [Object] { unsafe references.map { unsafe $0.takeUnretainedValue() } }

    /// Appends an object, and retains it.
    @inlinable
    package mutating func append(_ object: Object) {
        unsafe references.append(Unmanaged.passRetained(object))
    }

    /// Calls `visit` with each object, in order.
    @inlinable @inline(__always)
    package func visit(_ visit: (Object) -> Void) {
        for index in 0..<count {
            unsafe references[index]._withUnsafeGuaranteedRef { visit($0) }
        }
    }

    /// Releases the objects for which `isDropped` is true, and keeps the order of the others.
    package mutating func removeAll(where isDropped: (Object) -> Bool) {
        unsafe references.removeAll { reference in
            guard unsafe reference._withUnsafeGuaranteedRef({ isDropped($0) }) else { return false }
            unsafe reference.release()
            return true
        }
    }

    /// Releases all objects, and keeps the memory for others.
    @inlinable
    package mutating func removeAll() {
        for index in 0..<count { unsafe references[index].release() }
        unsafe references.removeAll(keepingCapacity: true)
    }
}
