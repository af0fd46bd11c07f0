import CLibUV
import Glibc
package import ReactorBytes

extension Connection {
    /// Number of bytes passed to write that the kernel has not taken yet.
    ///
    /// The caller bounds it: if a peer lets it grow, stop producing for that peer and reading from
    /// it.
    package var pendingByteCount: Int {
        isClosed ? 0 : unsafe uv_stream_get_write_queue_size(stream) + outbox.waitingByteCount
    }

    /// A copy of the bytes passed to write that the kernel has not taken yet.
    package var pendingBytes: [UInt8] {
        guard !isClosed else { return [] }
        let unsent = unsafe uv_stream_get_write_queue_size(stream)
        return Outbox.bytes(of: outbox.sending).suffix(unsent) + Outbox.bytes(of: outbox.waiting)
    }

    /// Whether bytes wait for the peer to read.
    package var isWriting: Bool {
        !outbox.sending.isEmpty || !outbox.waiting.isEmpty
    }

    /// Writes `slices` in order: as much as the kernel takes at once, the rest when it has space.
    ///
    /// Returns the number of bytes written at once; if that is not all, ``onWritten`` is called at
    /// the end. After ``shutdown()``, ``finish()`` or ``close()``, it writes nothing. A broken
    /// connection writes nothing more, and closes itself once the peer's last bytes are read.
    ///
    /// *Cost*: one system call for up to 1,024 slices; allocates only for waiting slices.
    /// *C*: `uv_try_write`, `uv_write`.
    @discardableResult
    package func write(_ slices: ByteSlices) -> Int {
        guard !isClosed, outbox.afterwards == .nothing else { return 0 }
        var written = 0
        if !isWriting {
            let result = writeNow(slices)
            // The steady path ends here, with nothing left to write.
            guard !result.isDone else { return result.byteCount }
            written = result.byteCount
        }
        outbox.append(slices, after: written)
        if outbox.sending.isEmpty, !outbox.waiting.isEmpty { send() }
        return written
    }

    /// Writes `bytes` like ``write(_:)-(ByteSlices)``, copying only the part that has to wait.
    @discardableResult
    package func write(_ bytes: Span<UInt8>) -> Int {
        guard !isClosed, outbox.afterwards == .nothing, !bytes.isEmpty else { return 0 }
        var written = 0
        if !isWriting {
            let result = unsafe bytes.withUnsafeBufferPointer { buffer -> Int32 in
                unsafe loop.vector[0] = unsafe .lending(buffer)
                return unsafe uv_try_write(stream, loop.vector, 1)
            }
            guard let taken = check(result) else { return 0 }
            written = taken
        }
        guard written < bytes.count else { return written }
        let rest = unsafe bytes.withUnsafeBufferPointer { unsafe [UInt8]($0[written...]) }
        outbox.append(ByteSlices(ByteSlice(rest)), after: 0)
        if outbox.sending.isEmpty { send() }
        return written
    }

    /// Ends the writing side after all pending bytes; reading continues.
    package func shutdown() {
        guard !isClosed, outbox.afterwards == .nothing else { return }
        outbox.afterwards = .shutDown
        if !isWriting { concludeWriting() }
    }

    /// Stops reading, and closes after the kernel has taken all pending bytes.
    ///
    /// The peer reads all of them, then the end of the stream; or `ECONNRESET`, if it sent bytes
    /// that this side did not read.
    package func finish() {
        guard !isClosed else { return }
        pauseReading()
        outbox.afterwards = .close
        if !isWriting { concludeWriting() }
    }

    /// Writes as much of `slices` as the kernel takes. Returns the number of bytes, and whether
    /// nothing is left to do, since all were written or the connection broke.
    private func writeNow(_ slices: ByteSlices) -> (byteCount: Int, isDone: Bool) {
        var written = 0
        var next = 0
        while next < slices.count {
            let (count, byteCount) = fillVector(from: slices, next)
            next += count
            guard byteCount > 0 else { continue }
            let result = unsafe uv_try_write(stream, loop.vector, UInt32(count))
            guard let taken = check(result) else { return (0, true) }
            written += taken
            guard taken == byteCount else { return (written, false) }
        }
        return (written, true)
    }

    /// Points the loop's vector at `slices` from `first` on. Returns their number and their bytes.
    @inline(__always)
    private func fillVector(
        from slices: ByteSlices, _ first: Int
    ) -> (count: Int, byteCount: Int) {
        var count = 0
        var byteCount = 0
        let end = min(slices.count, first + EventLoop.vectorCountMax)
        let vector = unsafe loop.vector
        slices.visit(first..<end) { slice in
            unsafe vector[count] = unsafe .lending(slice)
            count &+= 1
            byteCount += slice.count
        }
        return (count, byteCount)
    }

    /// The number of bytes that the call wrote; 0 if the kernel's buffer is full, `nil` if the
    /// connection broke.
    private func check(_ result: Int32) -> Int? {
        if result >= 0 { return Int(result) }
        if result == UV_EAGAIN.rawValue { return 0 }
        loop.noteActivity()
        breakOff("write", result)
        return nil
    }

    /// Passes all waiting slices to libuv as one request.
    private func send() {
        outbox.startSending()
        let buffers = unsafe outbox.sending.map { unsafe uv_buf_t.lending($0) }
        let code = unsafe uv_write(writeRequest, stream, buffers, UInt32(buffers.count)) {
            request, code in
            guard let handle = unsafe request?.pointee.handle else { return }
            let raw = unsafe UnsafeMutableRawPointer(handle)
                .assumingMemoryBound(to: uv_handle_t.self)
            unsafe Connection.with(raw) { $0.didWrite(code) }
        }
        if code != 0 { fail("uv_write", code) }
    }

    private func didWrite(_ code: Int32) {
        outbox.finishSending()
        guard !isClosed else { return }
        loop.noteTraffic()
        guard code == 0 else { return breakOff("write", code) }
        if !outbox.waiting.isEmpty {
            send()
        } else if outbox.afterwards != .nothing {
            concludeWriting()
        } else {
            onWritten?()
        }
    }

    private func concludeWriting() {
        switch outbox.afterwards {
        case .nothing, .brokenOff: break
        case .close: close()
        case .shutDown:
            // Not `uv_shutdown`: the connection's own queue knows when the last byte was written,
            // and this call never blocks.
            var descriptor: uv_os_fd_t = -1
            unsafe uv_fileno(handle, &descriptor)
            Glibc.shutdown(descriptor, Int32(SHUT_WR))
        }
    }
}

extension uv_buf_t {
    /// Points at the bytes of `slice`, which must stay alive during the use.
    static func lending(_ slice: borrowing ByteSlice) -> uv_buf_t {
        unsafe lending(UnsafeBufferPointer(start: slice.address, count: slice.count))
    }

    /// Points at `buffer`. libuv only reads it, although the field's type is mutable.
    static func lending(_ buffer: UnsafeBufferPointer<UInt8>) -> uv_buf_t {
        let base = unsafe UnsafeMutableRawPointer(mutating: buffer.baseAddress)?
            .assumingMemoryBound(to: CChar.self)
        return unsafe uv_buf_t(base: base, len: buffer.count)
    }
}
