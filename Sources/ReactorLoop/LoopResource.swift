import CLibUV

/// Something open on a loop: a connection, a listener, a timer, a signal source.
///
/// An open resource is retained by its loop until it is closed, so its callbacks fire even when
/// nobody else holds it; whoever opens one closes it.
///
/// *Owner*: the loop's thread, for every member.
@safe
public class LoopResource {
    /// The loop it is open on.
    public let loop: EventLoop
    /// Whether ``close()`` was called or happened by itself. No callback but the last one follows.
    public private(set) var isClosed = false

    let memory: UnsafeMutableRawPointer
    var handle: UnsafeMutablePointer<uv_handle_t> {
        unsafe memory.assumingMemoryBound(to: uv_handle_t.self)
    }

    /// Allocates room for libuv's `type`, yet to be initialised by a subclass.
    init<Handle>(on loop: EventLoop, as type: Handle.Type) {
        self.loop = loop
        unsafe memory = .allocate(
            byteCount: MemoryLayout<Handle>.size, alignment: MemoryLayout<Handle>.alignment)
    }

    deinit {
        // because the loop retains what is open, this runs after the close callback
        unsafe memory.deallocate()
    }

    /// Gives the loop its reference, once libuv knows the handle.
    func adopt() {
        unsafe handle.pointee.data = Unmanaged.passRetained(self).toOpaque()
    }

    /// Closes it. Safe at any time, also inside its own callbacks, and more than once.
    ///
    /// *C*: `uv_close`. The memory is freed after the close callback, in the loop's next pass.
    public func close() {
        guard !isClosed else { return }
        isClosed = true
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

    /// Called once, when libuv has let go of the handle.
    func didClose() {}
}

extension UnsafeMutablePointer where Pointee == uv_handle_t {
    /// The resource whose handle this is, or nil for one of the loop's own.
    var resource: LoopResource? {
        guard let data = unsafe pointee.data else { return nil }
        return unsafe Unmanaged<LoopResource>.fromOpaque(data).takeUnretainedValue()
    }
}
