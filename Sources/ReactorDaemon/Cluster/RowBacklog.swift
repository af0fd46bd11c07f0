import DequeModule
import ReactorJournal

/// The rows that the cluster's log has and the local journal has not reported as stored.
///
///     for piece in backlog.add(rows, words) { host.store(piece.rows, log: piece.words) }
///     for piece in backlog.confirm(upTo: number) { … }    // the journal has them
///     backlog.stall()                                     // its disk is full
///     for piece in backlog.resume() { … }                 // there is room again
///
/// A node whose disk is full goes on with the rows here. Once there is room, the journal gets them in
/// slices, the next when it has stored the one before: each is one transaction, which needs as much
/// space again.
///
/// *Shape*: the rows are consecutive. The journal was given the first pieces, and none while
/// ``isStalled``. ``invariants()`` states the invariants.
struct RowBacklog {
    /// Rows that are stored in one commit with the words of their place in the log.
    struct Piece {
        let rows: [JournalRow]
        let words: [UInt64]
        fileprivate let byteCount: Int

        fileprivate init(_ rows: [JournalRow], _ words: [UInt64]) {
            self.rows = rows
            self.words = words
            byteCount = rows.reduce(0) { $0 + $1.deltas.count + $1.facts.count + Self.rowByteCount }
        }

        /// About the bytes of a row in memory without its deltas and facts.
        private static let rowByteCount = 450
    }

    /// Maximum bytes of a slice, unless it is one piece.
    private static let sliceBytesMax = 4 << 20
    /// Bytes from which on no further rows should be added while the journal does not keep up.
    private let byteCountMax: Int
    private var pieces: Deque<Piece> = []
    /// Number of pieces, from the first on, that the journal was given.
    private var givenCount = 0
    /// Bytes of all pieces.
    private var byteCount = 0
    /// Whether the journal takes no rows.
    private(set) var isStalled = false

    /// A backlog that is full with `byteCountMax` bytes.
    init(byteCountMax: Int) { self.byteCountMax = byteCountMax }

    /// Whether the journal does not keep up, as its disk is or was full.
    var isBehind: Bool { isStalled || givenCount < pieces.count }

    /// Whether so many rows wait that no others should be added. Once this was so, it is until half
    /// of them are stored; `wasFull` is the former answer.
    func isFull(_ wasFull: Bool) -> Bool {
        isBehind && byteCount >= (wasFull ? byteCountMax / 2 : byteCountMax)
    }

    /// Number of rows.
    var rowCount: Int { pieces.reduce(0) { $0 + $1.rows.count } }

    /// The rows after row `number`.
    func rows(after number: UInt64) -> [JournalRow] {
        pieces.flatMap { piece in piece.rows.filter { $0.number > number } }
    }

    /// Adds rows, and returns what the journal is to store now.
    mutating func add(_ rows: [JournalRow], _ words: [UInt64]) -> [Piece] {
        let keepsUp = !isBehind
        let piece = Piece(rows, words)
        pieces.append(piece)
        byteCount += piece.byteCount
        if keepsUp { givenCount += 1 }
        invariants()
        return keepsUp ? [piece] : []
    }

    /// The journal has the rows up to `number`. Returns what it is to store next.
    mutating func confirm(upTo number: UInt64) -> [Piece] {
        while let first = pieces.first, let last = first.rows.last, last.number <= number {
            pieces.removeFirst()
            byteCount -= first.byteCount
            givenCount = max(0, givenCount - 1)
        }
        invariants()
        return givenCount == 0 ? slice() : []
    }

    /// The journal drops what it was given and has not stored, and takes no rows.
    mutating func stall() {
        (isStalled, givenCount) = (true, 0)
        invariants()
    }

    /// The journal takes rows again. Returns what it is to store now.
    mutating func resume() -> [Piece] {
        isStalled = false
        return slice()
    }

    private mutating func slice() -> [Piece] {
        guard !isStalled else { return [] }
        var sliceByteCount = 0
        let slice = pieces.prefix { piece in
            sliceByteCount += piece.byteCount
            return sliceByteCount == piece.byteCount || sliceByteCount <= Self.sliceBytesMax
        }
        givenCount = slice.count
        invariants()
        return Array(slice)
    }

    /// Checks the invariants, in debug builds.
    private func invariants() {
        assert(givenCount <= pieces.count, "the journal has rows that are not in the backlog")
        assert(!isStalled || givenCount == 0, "a journal without space was given rows")
        assert(!pieces.isEmpty || byteCount == 0, "no rows have \(byteCount) bytes")
    }
}
