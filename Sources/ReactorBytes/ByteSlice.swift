/// A run of bytes inside a shared array, counted by reference and never copied.
///
/// *Place*: one encoded delta goes to the journal and to a thousand subscribers as slices of one
/// array.
///
/// *Shape*: `range` lies within `storage`; may be empty.
@usableFromInline package struct ByteSlice: Sendable {
    /// The array with the bytes, and possibly others.
    @usableFromInline package let storage: [UInt8]
    /// The range of the bytes in `storage`.
    @usableFromInline package let range: Range<Int>

    /// Refers to `range` of `storage`. *Traps*: if the range is out of bounds.
    @inlinable
    package init(_ storage: [UInt8], range: Range<Int>) {
        precondition(
            range.lowerBound >= 0 && range.upperBound <= storage.count,
            "slice \(range) of \(storage.count) bytes")
        self.storage = storage
        self.range = range
    }

    /// Refers to the whole of `storage`.
    @inlinable
    package init(_ storage: [UInt8]) {
        self.storage = storage
        range = 0..<storage.count
    }

    /// Number of bytes.
    @inlinable
    package var count: Int { range.count }

    /// The slice without its first `byteCount` bytes.
    @inlinable
    package func dropping(_ byteCount: Int) -> ByteSlice {
        ByteSlice(storage, range: (range.lowerBound + byteCount)..<range.upperBound)
    }

    /// A number that slices of the same array share while one of them is alive, and no others do.
    package var storageNumber: UInt {
        unsafe storage.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
    }

    /// The address of the first byte.
    ///
    /// *Owner*: valid while the slice, or another reference to the same array, is alive: an array
    /// on Linux is one heap object that never moves, and a write through another reference copies
    /// it first.
    @inlinable @unsafe package var address: UnsafePointer<UInt8>? {
        unsafe storage.withUnsafeBufferPointer { buffer in
            unsafe buffer.baseAddress.map { unsafe $0 + range.lowerBound }
        }
    }
}
