/// References to objects by numbers that the program itself assigns, with exactly one owner.
///
/// *Place*: a call for a connection looks it up by its number. The table keeps its objects alive for
/// a visit, so that a look-up retains nothing. *Shape*: a ``NumberTable``, which states the
/// invariants.
@safe
@usableFromInline package struct ReferenceTable<Object: AnyObject>: ~Copyable {
    @usableFromInline var table = unsafe NumberTable<Unmanaged<Object>>()

    /// Makes an empty table.
    @inlinable package init() {}

    @inlinable
    deinit {
        let references = unsafe table.values
        for index in 0..<count { unsafe references[index].release() }
    }

    /// Number of objects.
    @inlinable package var count: Int { unsafe table.count }

    /// Whether it has no objects.
    @inlinable package var isEmpty: Bool { unsafe table.isEmpty }

    /// All objects, in no particular order. *Cost*: copies and retains them.
    package var objects: [Object] { unsafe table.values.map { unsafe $0.takeUnretainedValue() } }

    /// The object of a number; nil if there is none.
    @inlinable
    package subscript(number: UInt64) -> Object? { unsafe table[number]?.takeUnretainedValue() }

    /// Calls `visit` with the object of a number. Returns nil if there is none.
    ///
    /// *Owner*: `visit` must not change the table.
    @inlinable @inline(__always)
    package func with<Result>(_ number: UInt64, _ visit: (Object) -> Result) -> Result? {
        guard let reference = unsafe table[number] else { return nil }
        return unsafe reference._withUnsafeGuaranteedRef { visit($0) }
    }

    /// Stores the object of `number`. Returns the replaced object; nil if the number is new.
    @inlinable @discardableResult
    package mutating func insert(_ object: Object, at number: UInt64) -> Object? {
        unsafe table.insert(Unmanaged.passRetained(object), at: number)?.takeRetainedValue()
    }

    /// Removes and returns the object of `number`; nil if there is none.
    @inlinable @discardableResult
    package mutating func remove(at number: UInt64) -> Object? {
        unsafe table.remove(at: number)?.takeRetainedValue()
    }
}
