import CLibUV

/// A resource of a loop: a connection, a listener, a timer, a signal source.
///
/// The loop retains an open resource until it is closed, so its callbacks run even without another
/// reference; the opener must close it.
///
/// *Owner*: the loop's thread, for every member.
@safe
package class LoopResource {
    /// The loop of the resource.
    package let loop: EventLoop
    /// Whether ``close()`` was called, or an error has closed the resource. After that, only the
    /// last callback follows.
    package final var isClosed: Bool { closed }
    // Not public, so that the accesses of each read and write need no check at run time.
    private final var closed = false

    let memory: UnsafeMutableRawPointer
    var handle: UnsafeMutablePointer<uv_handle_t> {
        unsafe memory.assumingMemoryBound(to: uv_handle_t.self)
    }

    /// Allocates memory for libuv's `type`, which a subclass initialises.
    init<Handle>(on loop: EventLoop, as type: Handle.Type) {
        self.loop = loop
        unsafe memory = .allocate(
            byteCount: MemoryLayout<Handle>.size, alignment: MemoryLayout<Handle>.alignment)
    }

    deinit {
        // The loop retains open resources, so this runs after the close callback.
        unsafe memory.deallocate()
    }

    /// Makes the loop retain the resource, once libuv knows the handle.
    func adopt() {
        unsafe handle.pointee.data = Unmanaged.passRetained(self).toOpaque()
    }

    /// Closes the resource. May be called at any time, also inside its own callbacks, and
    /// repeatedly.
    ///
    /// *C*: `uv_close`. The memory is freed after the close callback, in the loop's next pass.
    package func close() {
        guard !isClosed else { return }
        closed = true
        willClose()
        unsafe uv_close(handle) { handle in
            guard let data = unsafe handle?.pointee.data else { return }
            let resource = unsafe Unmanaged<LoopResource>.fromOpaque(data).takeRetainedValue()
            resource.loop.noteActivity()
            resource.didClose()
        }
    }

    /// Called once, before libuv closes the handle.
    func willClose() {}

    /// Called once, after libuv has released the handle.
    func didClose() {}
}

extension UnsafeMutablePointer where Pointee == uv_handle_t {
    /// The resource of the handle; `nil` for the loop's own handles.
    var resource: LoopResource? {
        guard let data = unsafe pointee.data else { return nil }
        return unsafe Unmanaged<LoopResource>.fromOpaque(data).takeUnretainedValue()
    }
}
