import CLibUV
import ReactorBytes

/// What a connection has to write and could not yet.
///
/// *Shape*: `sending` is what libuv holds in its one write request, `waiting` what came since.
struct Outbox {
    /// The slices whose bytes libuv's request points to; alive until it is done.
    var sending: [ByteSlice] = []
    /// Slices for the next request, in order.
    var waiting: [ByteSlice] = []
    /// Bytes in `waiting`.
    var waitingByteCount = 0
    /// What to do once everything is written.
    var afterwards = Afterwards.nothing

    /// What follows the last byte.
    enum Afterwards {
        /// The connection stays open.
        case nothing
        /// The writing half is shut.
        case shutDown
        /// The connection closes.
        case close
    }

    /// Slices for which room is kept while nothing waits.
    static let spareSlicesMax = 64

    /// Lets go of the slices of a request that is done.
    mutating func finishSending() {
        // because one bad moment must not cost an idle connection memory for ever
        sending.removeAll(keepingCapacity: sending.capacity <= Self.spareSlicesMax)
    }

    /// Makes what waits the next request, once the one before is done.
    mutating func startSending() {
        precondition(sending.isEmpty, "a request with \(sending.count) slices is under way")
        swap(&sending, &waiting)
        waitingByteCount = 0
    }

    /// Puts the part of `slices` after its first `byteCount` bytes at the end of `waiting`.
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
