import ReactorBytes

// MARK: - Encodings that are not needed as a whole
extension WireWriter {
    /// Number of bytes that `body` writes. *Cost*: encodes them, in memory for a piece.
    package static func byteCount(of body: (inout WireWriter) -> Void) -> Int {
        var writer = WireWriter(to: ByteSink(keepingAtMost: ByteSink.pieceByteCount))
        body(&writer)
        return writer.count
    }

    /// Passes what `body` writes to `take`, in consecutive pieces of about `byteCount` bytes; each is
    /// valid for the call.
    package static func pieces(
        of byteCount: Int = ByteSink.pieceByteCount, _ body: (inout WireWriter) -> Void,
        to take: (Span<UInt8>) -> Void
    ) {
        withoutActuallyEscaping(take) { take in
            var writer = WireWriter(to: ByteSink(pieces: byteCount, take))
            body(&writer)
            writer.buffer.finish()
        }
    }

    /// What `body` writes, in an array without spare room, and the number of bytes; nil instead if they
    /// are more than `byteCountMax`. *Cost*: calls `body` a second time if it writes more than
    /// ``wholeByteCountMax``; unlike ``bytes``, it never holds so many bytes twice.
    package static func bytes(
        atMost byteCountMax: Int = .max, of body: (inout WireWriter) -> Void
    ) -> (bytes: [UInt8]?, byteCount: Int) {
        var writer = WireWriter(to: ByteSink(keepingAtMost: wholeByteCountMax))
        body(&writer)
        let byteCount = writer.count
        guard byteCount <= byteCountMax else { return (nil, byteCount) }
        guard writer.hasPassedOn else { return (writer.bytes, byteCount) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(byteCount)
        writer.removeAll(keepingAtMost: 0)
        pieces(of: ByteSink.pieceByteCount, body) { piece in
            bytes.append(contentsOf: piece, 0..<piece.count)
        }
        return (bytes, byteCount)
    }

    /// Maximum bytes of an encoding that is made as a whole.
    package static let wholeByteCountMax = 4 << 20
}

extension WireChecksum {
    /// The checksum of what `body` writes, and the number of bytes. *Cost*: memory for a piece.
    package static func of(
        _ body: (inout WireWriter) -> Void
    ) -> (value: UInt64, byteCount: Int) {
        var (checksum, byteCount) = (WireChecksum(), 0)
        WireWriter.pieces(of: ByteSink.pieceByteCount, body) { piece in
            checksum.add(piece)
            byteCount += piece.count
        }
        return (checksum.value, byteCount)
    }
}
