import Testing

@testable import ReactorWire

/// Frames in a stream that arrives in reads of any size.
struct FrameAssemblerTests {
    /// A reader like the server's and the client's: it handles complete frames, and may pause.
    private struct Reader: ~Copyable {
        var assembler = FrameAssembler()
        var bodies: [[UInt8]] = []
        /// Number of frames that the reader handles before it pauses.
        var framesLeft = Int.max
        /// Number of calls with bytes of which it could use none.
        var idleLooks = 0

        mutating func receive(_ bytes: Span<UInt8>) {
            guard framesLeft > 0 else {
                return assembler.keep(bytes, after: FrameProgress(end: 0))
            }
            var start = 0
            while !assembler.isEmpty, start < bytes.count, framesLeft > 0 {
                start = assembler.complete(from: bytes, at: start)
                guard assembler.isReady else { return }
                readHeld()
            }
            assembler.keep(bytes, after: read(bytes, from: start))
        }

        mutating func readHeld() {
            let held = assembler.take()
            let progress = read(held)
            if progress.end == held.start, framesLeft > 0, progress.needed <= FrameHeader.byteCount
            {
                idleLooks += 1
            }
            assembler.restore(held, after: progress)
        }

        private mutating func read(_ held: borrowing HeldBytes) -> FrameProgress {
            read(held.bytes.span, from: held.start)
        }

        private mutating func read(_ bytes: Span<UInt8>, from first: Int) -> FrameProgress {
            var offset = first
            while framesLeft > 0 {
                guard
                    let header = try? FrameHeader.decode(bytes, at: offset, frameBytesMax: 1 << 20)
                else { return FrameProgress(end: offset, needed: FrameHeader.byteCount) }
                let end = offset + FrameHeader.byteCount + Int(header.length)
                guard end <= bytes.count else {
                    return FrameProgress(end: offset, needed: end - offset)
                }
                var body: [UInt8] = []
                body.append(contentsOf: bytes, offset + FrameHeader.byteCount..<end)
                bodies.append(body)
                framesLeft -= 1
                offset = end
            }
            return FrameProgress(end: offset)
        }
    }

    private static func stream(_ lengths: [Int]) -> (bytes: [UInt8], bodies: [[UInt8]]) {
        var writer = WireWriter()
        var bodies: [[UInt8]] = []
        for (index, length) in lengths.enumerated() {
            let body = (0..<length).map { UInt8(truncatingIfNeeded: index &* 31 &+ $0) }
            let frame = writer.beginFrame(.dispatch, id: UInt32(index), number: UInt64(index))
            writer.raw(body.span)
            writer.endFrame(at: frame)
            bodies.append(body)
        }
        return (writer.bytes, bodies)
    }

    @Test("complete frames are read in place, and the assembler holds nothing")
    func whole() {
        let (bytes, bodies) = Self.stream([0, 7, 300])
        var reader = Reader()
        reader.receive(bytes.span)
        #expect(reader.bodies == bodies)
        let (isEmpty, stored) = (reader.assembler.isEmpty, reader.assembler.storedByteCount)
        #expect(isEmpty && stored == 0)
    }

    @Test("a stream cut at any two bytes gives the same frames")
    func cuts() {
        let (bytes, bodies) = Self.stream([0, 7, 0, 25])
        for first in 0...bytes.count {
            for second in first...bytes.count {
                var reader = Reader()
                reader.receive(bytes.span.extracting(0..<first))
                reader.receive(bytes.span.extracting(first..<second))
                reader.receive(bytes.span.extracting(second..<bytes.count))
                #expect(reader.bodies == bodies, "cut at \(first) and \(second)")
                let isEmpty = reader.assembler.isEmpty
                #expect(isEmpty, "cut at \(first) and \(second)")
            }
        }
    }

    @Test("a frame that arrives byte by byte is read only when its header and its end arrive")
    func looks() {
        let (bytes, bodies) = Self.stream([64])
        var reader = Reader()
        for index in 0..<bytes.count { reader.receive(bytes.span.extracting(index..<index + 1)) }
        #expect(reader.bodies == bodies)
        #expect(reader.idleLooks == 0)
    }

    @Test("only the partial frame is copied, and not the bytes after it")
    func copies() {
        let (bytes, _) = Self.stream([10, 1_000])
        var assembler = FrameAssembler()
        assembler.keep(
            bytes.span.extracting(0..<25), after: FrameProgress(end: 0, needed: 30))
        let end = assembler.complete(from: bytes.span, at: 25)
        #expect(end == 30)
        let (isReady, count) = (assembler.isReady, assembler.byteCount)
        #expect(isReady && count == 30)
    }

    @Test(
        "unused bytes stay in place until most are used, and keep no idle memory")
    func memory() {
        var assembler = FrameAssembler()
        let bytes = [UInt8](repeating: 7, count: 10_000)
        assembler.keep(bytes.span, after: FrameProgress(end: 0))
        for (used, stored) in [(100, 10_000), (5_000, 10_000), (5_001, 4_999), (100, 4_999)] {
            let held = assembler.take()
            assembler.restore(held, after: FrameProgress(end: used))
            let found = assembler.storedByteCount
            #expect(found == stored, "after \(used)")
        }
        let held = assembler.take()
        let count = held.bytes.count
        assembler.restore(held, after: FrameProgress(end: count))
        let (isEmpty, isReady) = (assembler.isEmpty, assembler.isReady)
        #expect(isEmpty && !isReady)
        #expect(assembler.storage.capacity <= FrameAssembler.idleByteCountMax)
    }

    @Test("an assembler that is cleared while a reader works holds nothing")
    func cleared() {
        var assembler = FrameAssembler()
        let bytes: [UInt8] = [1, 2, 3]
        assembler.keep(bytes.span, after: FrameProgress(end: 1))
        let held = assembler.take()
        assembler.removeAll()
        let bytesHeld = held.bytes
        #expect(bytesHeld == [2, 3])
        let (isEmpty, count) = (assembler.isEmpty, assembler.byteCount)
        #expect(isEmpty && count == 0)
    }

    @Test(
        "random frames in random reads, with pauses, are read in order", arguments: Seed.starts(64))
    func random(start: UInt64) {
        var seed = Seed(start)
        let lengths = (0..<40).map { _ in seed.below(4) == 0 ? seed.below(9_000) : seed.below(60) }
        let (bytes, bodies) = Self.stream(lengths)
        var reader = Reader()
        var offset = 0
        while offset < bytes.count || reader.bodies.count < bodies.count {
            if seed.below(3) == 0 { reader.framesLeft = seed.below(4) }
            if seed.below(3) == 0 || offset == bytes.count {
                reader.framesLeft = .max
                if !reader.assembler.isEmpty { reader.readHeld() }
            }
            let end = min(bytes.count, offset + (seed.below(2) == 0 ? 1 : seed.below(5_000)))
            reader.receive(bytes.span.extracting(offset..<end))
            offset = end
            let (held, stored) = (reader.assembler.byteCount, reader.assembler.storedByteCount)
            #expect(stored <= 2 * held, "seed \(start)")
        }
        #expect(reader.bodies == bodies, "seed \(start)")
        let isEmpty = reader.assembler.isEmpty
        #expect(isEmpty, "seed \(start)")
    }
}
