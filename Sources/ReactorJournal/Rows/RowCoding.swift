// MARK: - Rows as bytes
extension JournalRow {
    /// Appends the row as bytes, for a log outside the journal.
    ///
    /// *Shape*: number, after and sequence as unsigned LEB128; epoch, time and chain as 8 bytes,
    /// little-endian; then the deltas and the facts, each as LEB128 of its size before compression
    /// (0 if it is not compressed) and of its bytes, and the bytes. Compressed as in the journal.
    package func encode(into bytes: inout [UInt8]) {
        for word in [number, after, sequence] { Self.append(word, to: &bytes) }
        for word in [epoch, UInt64(bitPattern: time), chain] {
            for shift in stride(from: 0, to: 64, by: 8) {
                bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(shift)))
            }
        }
        for part in [deltas, facts] {
            let blob = StoredRow.Blob(part)
            Self.append(blob.unpackedByteCount ?? 0, to: &bytes)
            Self.append(UInt64(blob.range.count), to: &bytes)
            bytes.append(contentsOf: blob.bytes[blob.range])
        }
    }

    private static func append(_ word: UInt64, to bytes: inout [UInt8]) {
        var rest = word
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    /// Reads a row at `offset`, and advances `offset` behind it. The row is not verified: see
    /// ``verify(behind:in:)``.
    ///
    /// *Throws*: ``JournalError/damage(_:)`` with `file` as the place.
    package init(
        encoded bytes: Span<UInt8>, at offset: inout Int, in file: String
    ) throws(JournalError) {
        var cursor = EncodedRow(offset: offset, file: file)
        let (number, after, sequence) = (
            try cursor.word(bytes), try cursor.word(bytes), try cursor.word(bytes)
        )
        let (epoch, time, chain) = (
            try cursor.fixed(bytes), try cursor.fixed(bytes), try cursor.fixed(bytes)
        )
        let (deltas, facts) = (try cursor.blob(bytes), try cursor.blob(bytes))
        self.init(
            number: number, epoch: epoch, after: after, sequence: sequence,
            time: Int64(bitPattern: time), deltas: deltas, facts: facts, chain: chain)
        offset = cursor.offset
    }
}

/// Reads the parts of an encoded row.
private struct EncodedRow {
    var offset: Int
    let file: String

    private func damage(_ expected: String) -> JournalError {
        .damage(
            JournalDamage(
                file: file, row: nil, expected: expected, got: "other bytes at \(offset)"))
    }

    private mutating func byte(_ bytes: Span<UInt8>) throws(JournalError) -> UInt8 {
        guard offset < bytes.count else { throw damage("the rest of a row") }
        defer { offset += 1 }
        return bytes[offset]
    }

    mutating func word(_ bytes: Span<UInt8>) throws(JournalError) -> UInt64 {
        var (word, shift) = (0 as UInt64, 0 as UInt64)
        while true {
            let next = try byte(bytes)
            guard shift < 63 || next <= 1 else { throw damage("a number of 64 bits") }
            word |= UInt64(next & 0x7f) << shift
            if next < 0x80 { return word }
            shift += 7
        }
    }

    mutating func fixed(_ bytes: Span<UInt8>) throws(JournalError) -> UInt64 {
        var word: UInt64 = 0
        for shift in stride(from: 0, to: 64, by: 8) {
            word |= UInt64(try byte(bytes)) << UInt64(shift)
        }
        return word
    }

    mutating func blob(_ bytes: Span<UInt8>) throws(JournalError) -> [UInt8] {
        let (unpacked, count) = (try word(bytes), try word(bytes))
        guard count <= UInt64(bytes.count - offset) else { throw damage("\(count) bytes") }
        var blob: [UInt8] = []
        blob.reserveCapacity(Int(count))
        for index in offset..<offset + Int(count) { blob.append(bytes[index]) }
        if unpacked > 0 {
            guard let whole = Packing.unpack(blob, byteCount: unpacked) else {
                throw damage("\(unpacked) compressed bytes")
            }
            blob = whole
        }
        offset += Int(count)
        return blob
    }
}
