/// The beginning of a cluster's history: the value of the base key, which is written once, when the
/// cluster is founded.
///
/// *Shape*: format 1 (one byte), then in eight bytes each, lowest first: the three words of the
/// identity, epoch, sequence, number and checksum of the row, time.
package struct ClusterOrigin: Equatable, Sendable {
    /// The identity of the journal that all nodes share: three words that this module does not
    /// read.
    package let instance: [UInt64]
    /// The epoch that the cluster's history begins with: that of ``sequence``, or a random one for
    /// an empty history. It is not 0.
    package let epoch: UInt64
    /// The sequence of the last transaction in ``row``; 0 for an empty history.
    package let sequence: UInt64
    /// The last row that the first node had when the cluster was founded: the log's first row
    /// follows it. Its number is 0 for an empty history.
    package let row: RowPosition
    /// When ``row`` was passed to the journal, in milliseconds since 1970; 0 for an empty history.
    package let time: Int64

    /// Creates a base. *Traps*: if `instance` does not have three words.
    package init(
        instance: [UInt64], epoch: UInt64, sequence: UInt64, row: RowPosition, time: Int64
    ) {
        precondition(
            instance.count == Self.instanceWordCount,
            "the identity of a journal has \(Self.instanceWordCount) words, not \(instance.count)")
        self.instance = instance
        self.epoch = epoch
        self.sequence = sequence
        self.row = row
        self.time = time
    }
}

extension ClusterOrigin {
    private static let format: UInt8 = 1
    private static let instanceWordCount = 3

    /// The base's bytes.
    package var bytes: [UInt8] {
        var bytes = [Self.format]
        let position = [epoch, sequence, row.number, row.chain, UInt64(bitPattern: time)]
        for word in instance + position { bytes.append(word, byteCount: 8) }
        return bytes
    }

    /// Decodes the value of the base key.
    package init(bytes: [UInt8]) throws(RecordError) {
        var reader = RecordReader("cluster base", bytes)
        try reader.checkFormat(Self.format)
        var instance: [UInt64] = []
        for _ in 0..<Self.instanceWordCount {
            instance.append(try reader.word("journal's identity"))
        }
        self.init(
            instance: instance, epoch: try reader.word("epoch"),
            sequence: try reader.word("sequence"),
            row: RowPosition(
                number: try reader.word("row number"), chain: try reader.word("row checksum")),
            time: Int64(bitPattern: try reader.word("time")))
        try reader.end()
    }
}
