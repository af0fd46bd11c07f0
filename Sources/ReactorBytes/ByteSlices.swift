/// Slices to be written one after another.
///
/// *Shape*: the first is stored outside the array, since most writes have only one, and an array of
/// one costs an allocation.
public struct ByteSlices: Sendable {
    @usableFromInline var first: ByteSlice?
    @usableFromInline var others: [ByteSlice] = []

    /// No slices.
    @inlinable public init() {}

    /// One slice.
    @inlinable public init(_ slice: ByteSlice) { first = slice }

    /// The slices of a sequence, in its order.
    public init(_ slices: some Sequence<ByteSlice>) {
        for slice in slices { append(slice) }
    }

    /// Number of slices.
    @inlinable public var count: Int { first == nil ? 0 : 1 &+ others.count }

    /// Appends a slice.
    @inlinable
    public mutating func append(_ slice: ByteSlice) {
        if first == nil { first = slice } else { others.append(slice) }
    }
}

extension ByteSlices: RandomAccessCollection {
    @inlinable public var startIndex: Int { 0 }
    @inlinable public var endIndex: Int { count }

    /// The slice at an index, counted from 0.
    @inlinable
    public subscript(index: Int) -> ByteSlice {
        if index == 0, let first { return first }
        return others[index &- 1]
    }
}

extension ByteSlices: ExpressibleByArrayLiteral {
    @inlinable
    public init(arrayLiteral elements: ByteSlice...) {
        self.init(elements)
    }
}
