import ReactorLoop

@testable import ReactorClient

/// A journal's store in memory: its contents outlive the client, as a file does.
final class ArrayStore: PendingStore {
    var bytes: [UInt8]
    var byteCount: Int { bytes.count }
    /// Number of writes so far.
    private(set) var writeCount = 0
    /// Whether writes are refused.
    var isBroken = false

    init(_ bytes: [UInt8] = []) { self.bytes = bytes }

    func contents() throws(LoopError) -> [UInt8] { bytes }

    func append(_ bytes: [UInt8]) throws(LoopError) {
        try check()
        self.bytes += bytes
    }

    func truncate(to byteCount: Int) throws(LoopError) {
        bytes.removeLast(bytes.count - byteCount)
    }

    func replace(with bytes: [UInt8]) throws(LoopError) {
        try check()
        self.bytes = bytes
    }

    private func check() throws(LoopError) {
        writeCount += 1
        if isBroken {
            throw .call(CallFailure(call: "write", code: -28, subject: "the array"))
        }
    }
}
