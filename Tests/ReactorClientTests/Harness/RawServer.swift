import ReactorBytes
import ReactorLoop
import ReactorThreads

/// A listener that sends the same bytes to every client, whatever the client sends.
final class RawServer: Sendable {
    private let folder = SocketFolder()
    private let handle: LoopHandle
    private let thread: WorkThread
    var path: String { folder.socket }

    init(_ bytes: [UInt8]) throws {
        let loop = try EventLoop()
        handle = loop.handle
        let listener = try Listener(at: UnixAddress(folder.socket), on: loop)
        let links = Links()
        listener.onAccept = { link in
            links.all.append(link)
            link.onBytes = { _ in }
            link.resumeReading()
            if !bytes.isEmpty {
                link.write(ByteSlices(ByteSlice(bytes, range: 0..<bytes.count)))
            }
        }
        listener.resumeAccepting()
        let confined = Confined((loop, listener, links))
        thread = try WorkThread(name: "raw-server") {
            let loop = confined.open().0
            loop.run()
            loop.close()
        }
    }

    deinit {
        handle.stop()
        thread.join()
    }

    private final class Links {
        var all: [Connection] = []
    }
}
