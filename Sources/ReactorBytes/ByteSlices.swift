/// Slices to be written one after another.
///
/// *Shape*: the first is stored outside the array, since most writes have only one, and an array of
/// one costs an allocation.
@usableFromInline package struct ByteSlices: Sendable {
    @usableFromInline var first: ByteSlice?
    @usableFromInline var others: [ByteSlice] = []

    /// No slices.
    @inlinable package init() {}

    /// One slice.
    @inlinable package init(_ slice: ByteSlice) { first = slice }

    /// The slices of a sequence, in its order.
    @usableFromInline package init(_ slices: some Sequence<ByteSlice>) {
        for slice in slices { append(slice) }
    }

    /// Number of slices.
    @inlinable package var count: Int { first == nil ? 0 : 1 &+ others.count }

    /// Appends a slice.
    @inlinable
    package mutating func append(_ slice: ByteSlice) {
        if first == nil { first = slice } else { others.append(slice) }
    }
}

extension ByteSlices: RandomAccessCollection {
    @inlinable package var startIndex: Int { 0 }
    @inlinable package var endIndex: Int { count }

    /// The slice at an index, counted from 0.
    @inlinable
    package subscript(index: Int) -> ByteSlice {
        if index == 0, let first { return first }
        return others[index &- 1]
    }
}

extension ByteSlices: ExpressibleByArrayLiteral {
    @inlinable
    package init(arrayLiteral elements: ByteSlice...) {
        self.init(elements)
    }
}
