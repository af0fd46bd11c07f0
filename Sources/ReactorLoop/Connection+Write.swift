import CLibUV
import Glibc
public import ReactorBytes

extension Connection {
    /// Bytes given to write that the kernel has not taken yet.
    ///
    /// The caller's to bound: stop producing for, and reading from, a peer that lets it grow.
    public var pendingByteCount: Int {
        isClosed ? 0 : unsafe uv_stream_get_write_queue_size(stream) + outbox.waitingByteCount
    }

    /// Whether something given to write waits for the peer to read.
    public var isWriting: Bool {
        !outbox.sending.isEmpty || !outbox.waiting.isEmpty
    }

    /// Writes `slices` in order: at once what the kernel takes, the rest as it makes room.
    ///
    /// Answers how many bytes went at once; when it is not all, ``onWritten`` tells the end. After
    /// ``shutdown()``, ``finish()`` or ``close()`` nothing is written. A broken connection closes
    /// itself.
    ///
    /// *Cost*: one system call for up to 1,024 slices; allocates only for what has to wait.
    /// *C*: `uv_try_write`, `uv_write`.
    @discardableResult
    public func write(_ slices: ByteSlices) -> Int {
        guard !isClosed, outbox.afterwards == .nothing else { return 0 }
        var written = 0
        if !isWriting {
            let result = writeNow(slices)
            // because this is the steady path: nothing is left to look at
            guard !result.isDone else { return result.byteCount }
            written = result.byteCount
        }
        outbox.append(slices, after: written)
        if outbox.sending.isEmpty, !outbox.waiting.isEmpty { send() }
        return written
    }

    /// Writes `bytes` like ``write(_:)-(ByteSlices)``, copying only what has to wait.
    @discardableResult
    public func write(_ bytes: Span<UInt8>) -> Int {
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

    /// Tells the peer, after everything written, that nothing more will come; reading goes on.
    public func shutdown() {
        guard !isClosed, outbox.afterwards == .nothing else { return }
        outbox.afterwards = .shutDown
        if !isWriting { concludeWriting() }
    }

    /// Reads nothing more, and closes after everything written has gone to the kernel.
    ///
    /// The peer reads all of it, then the end; or `ECONNRESET`, if we left something of its unread.
    public func finish() {
        guard !isClosed else { return }
        pauseReading()
        outbox.afterwards = .close
        if !isWriting { concludeWriting() }
    }

    /// Writes what the kernel takes of `slices`; answers how many bytes that were, and whether
    /// nothing is left to do: all went, or the connection broke.
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

    /// Points the loop's vector at `slices` from `first` on; answers how many, and their bytes.
    private func fillVector(
        from slices: ByteSlices, _ first: Int
    ) -> (count: Int, byteCount: Int) {
        var count = 0
        var byteCount = 0
        let end = min(slices.count, first + EventLoop.vectorCountMax)
        for index in first..<end {
            let slice = slices[index]
            unsafe loop.vector[count] = unsafe .lending(slice)
            count += 1
            byteCount += slice.count
        }
        return (count, byteCount)
    }

    /// The bytes a try to write took, 0 when the kernel is full, nil when the connection broke.
    private func check(_ result: Int32) -> Int? {
        if result >= 0 { return Int(result) }
        if result == UV_EAGAIN.rawValue { return 0 }
        loop.noteActivity()
        fail("write", result)
        return nil
    }

    /// Hands everything waiting to libuv as one request.
    private func send() {
        outbox.startSending()
        let buffers = unsafe outbox.sending.map { unsafe uv_buf_t.lending($0) }
        let code = unsafe uv_write(writeRequest, stream, buffers, UInt32(buffers.count)) {
            request, code in
            guard let handle = unsafe request?.pointee.handle else { return }
            let raw = unsafe UnsafeMutableRawPointer(handle)
                .assumingMemoryBound(to: uv_handle_t.self)
            unsafe Connection.of(raw)?.didWrite(code)
        }
        if code != 0 { fail("uv_write", code) }
    }

    private func didWrite(_ code: Int32) {
        outbox.finishSending()
        guard !isClosed else { return }
        loop.noteTraffic()
        guard code == 0 else { return fail("write", code) }
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
        case .nothing: break
        case .close: close()
        case .shutDown:
            // because our own queue decides when the last byte went, and the call never blocks
            var descriptor: uv_os_fd_t = -1
            unsafe uv_fileno(handle, &descriptor)
            Glibc.shutdown(descriptor, Int32(SHUT_WR))
        }
    }
}

extension uv_buf_t {
    /// Points at the bytes of `slice`, which must outlive the use.
    static func lending(_ slice: ByteSlice) -> uv_buf_t {
        unsafe lending(UnsafeBufferPointer(start: slice.address, count: slice.count))
    }

    /// Points at `buffer`. libuv only reads it, though its type says otherwise.
    static func lending(_ buffer: UnsafeBufferPointer<UInt8>) -> uv_buf_t {
        let base = unsafe UnsafeMutableRawPointer(mutating: buffer.baseAddress)?
            .assumingMemoryBound(to: CChar.self)
        return unsafe uv_buf_t(base: base, len: buffer.count)
    }
}
