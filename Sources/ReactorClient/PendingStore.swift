import ReactorLoop

/// Where a client's journal is kept: see ``ClientOptions/journal``.
///
/// *Place*: beneath ``ClientJournal``; a file, or a test's array.
protocol PendingStore: AnyObject {
    /// How long it is.
    var byteCount: Int { get }
    /// Everything in it.
    func contents() throws(LoopError) -> [UInt8]
    /// Puts bytes behind what is there.
    func append(_ bytes: [UInt8]) throws(LoopError)
    /// Cuts it to its first bytes.
    func truncate(to byteCount: Int) throws(LoopError)
    /// Puts other contents in place of all that is there, as a whole.
    func replace(with bytes: [UInt8]) throws(LoopError)
}

extension AppendFile: PendingStore {}
