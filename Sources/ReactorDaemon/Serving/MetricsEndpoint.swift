import ReactorBytes
import ReactorLoop

/// Answers HTTP requests at a second Unix socket, so that a program that collects metrics needs no
/// client of the daemon.
///
/// *Place*: on the daemon's loop, beside the clients. It has few connections, each with one short
/// request and a deadline, so it cannot delay them. *Owner*: the loop's thread. *Shape*: an open
/// connection is in ``visitors``.
final class MetricsEndpoint {
    /// Called with the path of a request; the closure takes the response, at once or later.
    typealias Responder = (_ path: String, _ respond: @escaping (HTTPResponse) -> Void) -> Void

    /// Maximum number of open connections; a further one is closed.
    static let visitorsMax = 16
    /// Nanoseconds after which a connection is closed, whatever its state.
    static let deadline: UInt64 = 10_000_000_000

    /// The socket where it listens.
    let socket: BoundSocket
    private let loop: EventLoop
    private var visitors: [UInt64: Visitor] = [:]
    private var lastVisitor: UInt64 = 0
    private var responder: Responder?

    /// A connection with its request.
    private struct Visitor {
        let link: Connection
        let since: UInt64
        var request = HTTPRequest()
    }

    /// Binds the socket, or takes over that of a former process; requests are answered from
    /// ``begin(_:)`` on.
    ///
    /// *Throws*: as ``BoundSocket``.
    init(
        _ path: String, on loop: EventLoop, succeedingTo handed: HandedSocket? = nil
    ) throws(LoopError) {
        self.loop = loop
        if let handed {
            socket = try BoundSocket(succeedingTo: handed, on: loop)
        } else {
            socket = try BoundSocket(path, makesDirectory: false, on: loop)
        }
    }

    /// The socket's path.
    var path: String { socket.address.path }

    /// Number of open connections.
    var visitorCount: Int { visitors.count }

    /// Begins to accept connections.
    func begin(_ responder: @escaping Responder) {
        self.responder = responder
        socket.listener.onAccept = { [weak self] link in
            guard let self else { return link.close() }
            accept(link)
        }
        socket.listener.resumeAccepting()
    }

    /// Closes connections that are past their deadline, and binds the socket again if its file was
    /// removed; the daemon calls this once a second.
    func tick(at now: UInt64) {
        for (number, visitor) in visitors where now &- visitor.since >= Self.deadline {
            // The descriptor is closed before the callback: a new connection may come between.
            visitors[number] = nil
            visitor.link.close()
        }
        _ = try? socket.rebindIfLost()
    }

    /// Closes the socket and all connections, and releases the responder.
    func close() {
        socket.close()
        for visitor in visitors.values { visitor.link.close() }
        responder = nil
    }

    private func accept(_ link: Connection) {
        guard visitors.count < Self.visitorsMax else { return link.close() }
        lastVisitor += 1
        let number = lastVisitor
        visitors[number] = Visitor(link: link, since: loop.now)
        link.onBytes = { [weak self] in self?.receive($0, from: number) }
        link.onClosed = { [weak self] _ in self?.visitors[number] = nil }
        link.resumeReading()
    }

    private func receive(_ bytes: Span<UInt8>, from number: UInt64) {
        guard visitors[number]?.request.state == .incomplete else { return }
        visitors[number]?.request.receive(bytes)
        switch visitors[number]?.request.state {
        case .incomplete, nil: return
        case .refused(let status): respond(HTTPResponse(status, "refused"), to: number)
        case .get(let path), .head(let path):
            responder?(path) { [weak self] in self?.respond($0, to: number) }
        }
    }

    private func respond(_ response: HTTPResponse, to number: UInt64) {
        guard let visitor = visitors[number] else { return }
        var isHead = false
        if case .head = visitor.request.state { isHead = true }
        var slices = ByteSlices()
        slices.append(ByteSlice(response.bytes(isHead: isHead)))
        visitor.link.write(slices)
        visitor.link.finish()
    }
}
