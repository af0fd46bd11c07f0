import Glibc
import ReactorBytes
import ReactorLoop
import Testing

@Suite struct ConnectionWriteTests {
    @Test("slices of random sizes arrive in order, whatever waits and however the reader behaves")
    func keepsTheOrder() throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        let loop = try EventLoop()
        defer { loop.close() }
        let (writer, reader) = try loop.pair()
        var next: UInt8 = 0
        var sent = 0
        var got = 0
        var isInOrder = true
        reader.onBytes = { bytes in
            for index in bytes.indices {
                isInOrder = isInOrder && bytes[index] == UInt8(truncatingIfNeeded: got + index)
            }
            got += bytes.count
        }
        var isTold = true
        writer.onWritten = { isTold = true }
        for round in 0..<300 {
            let slices = (0..<Int.random(in: 1...40, using: &random)).map { _ in
                let count = Int.random(in: 0...3_000, using: &random)
                let bytes = (0..<count + 4).map { next &+ UInt8(truncatingIfNeeded: $0 - 2) }
                next &+= UInt8(truncatingIfNeeded: count)
                return ByteSlice(bytes, range: 2..<count + 2)
            }
            let byteCount = slices.reduce(0) { $0 + $1.count }
            if round % 7 == 0 {
                let bytes = slices.flatMap { $0.storage[$0.range] }
                writer.write(bytes.span)
            } else {
                writer.write(ByteSlices(slices))
            }
            sent += byteCount
            if writer.isWriting { isTold = false }
            if Bool.random(using: &random) { reader.resumeReading() } else { reader.pauseReading() }
            loop.turn(.noWait)
        }
        reader.resumeReading()
        try loop.turn { got == sent }
        #expect(isInOrder, "seed \(seed)")
        loop.turn(.noWait)
        #expect(isTold && writer.pendingByteCount == 0 && !writer.isWriting, "seed \(seed)")
    }

    @Test(
        "more slices than one system call accepts are sent in one write",
        arguments: [1_024, 1_025, 3_000])
    func exceedsTheVector(_ count: Int) throws {
        let loop = try EventLoop()
        defer { loop.close() }
        let (near, far) = Descriptors.pair()
        defer { close(far) }
        let connection = try Connection(on: loop, adopting: near)
        let one: [UInt8] = [1, 2, 3]
        let slices = (0..<count).map { ByteSlice(one, range: ($0 % 3)..<($0 % 3 + 1)) }
        #expect(connection.write(ByteSlices(slices)) == count)
        #expect(Descriptors.read(count + 1, from: far) == (0..<count).map { UInt8($0 % 3 + 1) })
    }

    @Test(
        "bytes that the kernel does not accept are counted until sent, and then reported once"
    )
    func countsWhatWaits() throws {
        let loop = try EventLoop()
        defer { loop.close() }
        let (near, far) = Descriptors.pair()
        defer { close(far) }
        let connection = try Connection(on: loop, adopting: near)
        var tellings = 0
        connection.onWritten = { tellings += 1 }
        let block = [UInt8](repeating: 1, count: 400_000)
        let written = connection.write([ByteSlice(block), ByteSlice(block)])
        #expect(written > 0 && written < 800_000)
        #expect(connection.pendingByteCount == 800_000 - written)
        #expect(connection.write([ByteSlice([2, 2])]) == 0)
        #expect(connection.pendingByteCount == 800_002 - written)
        var got = 0
        try loop.turn {
            while let bytes = Descriptors.read(65_536, from: far) { got += bytes.count }
            return tellings > 0
        }
        while let bytes = Descriptors.read(65_536, from: far) { got += bytes.count }
        #expect(got == 800_002)
        #expect(connection.pendingByteCount == 0)
        loop.turn(.noWait)
        #expect(tellings == 1)
    }

    @Test("shutting down and finishing wait for the pending bytes")
    func endsAfterPending() throws {
        for isFinish in [false, true] {
            let loop = try EventLoop()
            defer { loop.close() }
            let (near, far) = Descriptors.pair()
            defer { close(far) }
            let connection = try Connection(on: loop, adopting: near)
            connection.write([ByteSlice([UInt8](repeating: 1, count: 600_000))])
            if isFinish { connection.finish() } else { connection.shutdown() }
            #expect(!connection.isClosed)
            var got = 0
            var isEnded = false
            try loop.turn {
                while let bytes = Descriptors.read(65_536, from: far), !isEnded {
                    got += bytes.count
                    isEnded = bytes.isEmpty
                }
                return isEnded || connection.pendingByteCount == 0
            }
            // A process that another test spawns has a copy of the closed socket until it executes.
            try loop.turn(.noWait) {
                while let bytes = Descriptors.read(65_536, from: far), !isEnded {
                    got += bytes.count
                    isEnded = bytes.isEmpty
                }
                return isEnded
            }
            #expect(got == 600_000 && isEnded)
            #expect(connection.isClosed == isFinish)
        }
    }

    @Test("after finish no bytes are read, and the peer still receives the written ones")
    func finishReadsNothing() throws {
        let loop = try EventLoop()
        defer { loop.close() }
        let (near, far) = Descriptors.pair()
        defer { close(far) }
        let connection = try Connection(on: loop, adopting: near)
        var reads = 0
        var isClosed = false
        connection.onBytes = { _ in
            reads += 1
            connection.write([ByteSlice([UInt8](repeating: 9, count: 500_000))])
            connection.finish()
        }
        connection.onClosed = { _ in isClosed = true }
        connection.resumeReading()
        Descriptors.write([1], to: far)
        try loop.turn { reads == 1 }
        Descriptors.write([2], to: far)
        var got = 0
        try loop.turn {
            while let bytes = Descriptors.read(65_536, from: far), !bytes.isEmpty {
                got += bytes.count
            }
            return isClosed
        }
        while let bytes = Descriptors.read(65_536, from: far), !bytes.isEmpty { got += bytes.count }
        #expect(reads == 1 && got == 500_000)
    }

    @Test("an empty write has no effect")
    func writesNothing() throws {
        let loop = try EventLoop()
        defer { loop.close() }
        let (one, _) = try loop.pair()
        #expect(one.write([]) == 0)
        #expect(one.write([ByteSlice([]), ByteSlice([1], range: 1..<1)]) == 0)
        #expect(one.write([UInt8]().span) == 0)
        #expect(!one.isWriting)
    }
}
