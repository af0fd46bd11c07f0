/// A few words at a fixed place in memory that may outlive the process: mapped from a file, they are
/// there for whoever comes next, however this process ends.
///
/// *Place*: what a process was at when it died. To write one is one store.
@safe
public final class SharedWords {
    /// How many words there are.
    public let count: Int
    @usableFromInline let pointer: UnsafeMutablePointer<UInt64>
    private let release: () -> Void

    /// Makes `count` words in the process's own memory, all 0.
    public init(count: Int) {
        let pointer = UnsafeMutablePointer<UInt64>.allocate(capacity: count)
        unsafe pointer.initialize(repeating: 0, count: count)
        unsafe self.pointer = pointer
        self.count = count
        release = { unsafe pointer.deallocate() }
    }

    /// Takes over words that stand at `pointer`; `release` gives them back.
    @unsafe
    public init(
        at pointer: UnsafeMutablePointer<UInt64>, count: Int, release: @escaping () -> Void
    ) {
        unsafe self.pointer = pointer
        self.count = count
        self.release = release
    }

    deinit { release() }

    /// The word at `index`. *Traps*: where there is none.
    @inlinable
    public subscript(index: Int) -> UInt64 {
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
