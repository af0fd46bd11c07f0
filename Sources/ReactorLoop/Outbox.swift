import CLibUV
import ReactorBytes

/// The unwritten slices of a connection.
///
/// *Shape*: `sending` belongs to libuv's single write request, `waiting` came later.
struct Outbox {
    /// The slices of libuv's request, which keeps pointers to their bytes until it is done.
    var sending: [ByteSlice] = []
    /// Slices for the next request, in order.
    var waiting: [ByteSlice] = []
    /// Bytes in `waiting`.
    var waitingByteCount = 0
    /// The action after everything is written.
    var afterwards = Afterwards.nothing

    /// An action after the last byte.
    enum Afterwards {
        /// The connection stays open.
        case nothing
        /// The writing side is shut down.
        case shutDown
        /// The connection closes.
        case close
        /// The peer takes no more bytes; its last ones are still read.
        case brokenOff
    }

    /// Maximum capacity for slices that is kept while none waits.
    static let spareSlicesMax = 64

    /// The bytes of slices, in order.
    static func bytes(of slices: [ByteSlice]) -> [UInt8] {
        slices.flatMap { $0.storage[$0.range] }
    }

    /// Drops the waiting slices, and takes no more.
    mutating func discard() {
        waiting = []
        waitingByteCount = 0
        afterwards = .brokenOff
    }

    /// Releases the slices of a completed request.
    mutating func finishSending() {
        // An idle connection must not keep the memory of one large backlog.
        sending.removeAll(keepingCapacity: sending.capacity <= Self.spareSlicesMax)
    }

    /// Makes the waiting slices the next request, once the one before is complete.
    mutating func startSending() {
        precondition(sending.isEmpty, "a request with \(sending.count) slices is under way")
        swap(&sending, &waiting)
        waitingByteCount = 0
    }

    /// Appends the part of `slices` after its first `byteCount` bytes to `waiting`.
    mutating func append(_ slices: ByteSlices, after byteCount: Int) {
        var skip = byteCount
        for slice in slices {
            if skip >= slice.count {
                skip -= slice.count
            } else {
                let rest = skip == 0 ? slice : slice.dropping(skip)
                waiting.append(rest)
                waitingByteCount += rest.count
                skip = 0
            }
        }
    }
}
