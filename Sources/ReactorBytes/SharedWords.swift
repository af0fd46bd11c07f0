/// A few words at a fixed address, which may outlive the process: if they are mapped from a file,
/// the next process can read them, however this one ends.
///
/// *Place*: records the current work of a process, in case it dies. Writing a word is one store.
@safe
@usableFromInline package final class SharedWords {
    /// Number of words.
    @usableFromInline package let count: Int
    @usableFromInline let pointer: UnsafeMutablePointer<UInt64>
    private let release: () -> Void

    /// Allocates `count` words in the process's own memory, all 0.
    package init(count: Int) {
        let pointer = UnsafeMutablePointer<UInt64>.allocate(capacity: count)
        unsafe pointer.initialize(repeating: 0, count: count)
        unsafe self.pointer = pointer
        self.count = count
        release = { unsafe pointer.deallocate() }
    }

    /// Takes over the words at `pointer`; `release` frees them.
    @unsafe
    package init(
        at pointer: UnsafeMutablePointer<UInt64>, count: Int, release: @escaping () -> Void
    ) {
        unsafe self.pointer = pointer
        self.count = count
        self.release = release
    }

    deinit { release() }

    /// The word at `index`. *Traps*: if the index is out of bounds.
    @inlinable
    package subscript(index: Int) -> UInt64 {
        get {
            precondition(index >= 0 && index < count, "there is no such word")
            return unsafe pointer[index]
        }
        set {
            precondition(index >= 0 && index < count, "there is no such word")
            unsafe pointer[index] = newValue
        }
    }
}
