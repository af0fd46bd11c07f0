/// Slices to be written one after another.
///
/// *Shape*: the first is stored outside the array, since most writes have only one, and an array of
/// one costs an allocation. Swift retains even an empty array at each copy, so there is none before
/// the second slice.
@usableFromInline package struct ByteSlices: Sendable {
    @usableFromInline var first: ByteSlice?
    @usableFromInline var others: [ByteSlice]?

    /// No slices.
    @inlinable package init() {}

    /// One slice.
    @inlinable package init(_ slice: ByteSlice) { first = slice }

    /// The slices of a sequence, in its order.
    @usableFromInline package init(_ slices: some Sequence<ByteSlice>) {
        for slice in slices { append(slice) }
    }

    /// Number of slices.
    @inlinable package var count: Int {
        guard first != nil else { return 0 }
        return 1 &+ (others?.count ?? 0)
    }

    /// Appends a slice.
    @inlinable
    package mutating func append(_ slice: ByteSlice) {
        if first == nil {
            first = slice
        } else if others == nil {
            others = [slice]
        } else {
            others?.append(slice)
        }
    }
}

extension ByteSlices {
    /// Calls `visit` with each slice at `range`, in order; the slices are borrowed.
    @inlinable @inline(__always)
    package func visit(_ range: Range<Int>, _ visit: (borrowing ByteSlice) -> Void) {
        precondition(range.upperBound <= count, "slices \(range) of \(count)")
        var index = range.lowerBound
        if index == 0, index < range.upperBound, let first {
            visit(first)
            index = 1
        }
        while index < range.upperBound, let others {
            visit(others[index &- 1])
            index &+= 1
        }
    }
}

extension ByteSlices: RandomAccessCollection {
    @inlinable package var startIndex: Int { 0 }
    @inlinable package var endIndex: Int { count }

    /// The slice at an index, counted from 0.
    @inlinable
    package subscript(index: Int) -> ByteSlice {
        if index == 0, let first { return first }
        guard let others else { preconditionFailure("slice \(index) of \(count)") }
        return others[index &- 1]
    }
}

extension ByteSlices: ExpressibleByArrayLiteral {
    @inlinable
    package init(arrayLiteral elements: ByteSlice...) {
        self.init(elements)
    }
}
