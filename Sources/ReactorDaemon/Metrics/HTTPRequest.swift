/// Reads the head of a request of HTTP/1, within bounds.
///
///     var request = HTTPRequest()
///     request.receive(bytes)
///     switch request.state { … }
///
/// It reads the request line, and the headers only up to their end; a body is not read, since the
/// served methods have none. *Shape*: at most ``byteCountMax`` bytes are kept.
struct HTTPRequest {
    /// Maximum bytes of a request line with its headers.
    static let byteCountMax = 8 << 10

    /// What is known of the request.
    enum State: Equatable {
        /// The head is not complete.
        case incomplete
        /// A request for the content at a path, without its query.
        case get(path: String)
        /// The same, for the headers of the response alone.
        case head(path: String)
        /// A request that is answered with an error.
        case refused(HTTPResponse.Status)
    }

    private(set) var state = State.incomplete
    private var bytes: [UInt8] = []

    /// Takes bytes as they arrive; bytes after the head are dropped.
    mutating func receive(_ arrived: Span<UInt8>) {
        guard state == .incomplete else { return }
        for index in arrived.indices {
            bytes.append(arrived[index])
            if isHeadComplete {
                state = Self.parse(bytes)
                return
            }
            if bytes.count >= Self.byteCountMax {
                state = .refused(.headTooLarge)
                return
            }
        }
    }

    // A line may end without a carriage return.
    private var isHeadComplete: Bool {
        guard bytes.last == UInt8(ascii: "\n") else { return false }
        let rest = bytes.dropLast()
        return rest.last == UInt8(ascii: "\n")
            || rest.last == UInt8(ascii: "\r") && rest.dropLast().last == UInt8(ascii: "\n")
    }

    private static func parse(_ head: [UInt8]) -> State {
        let line = head.prefix { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }
        let words = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        guard words.count == 3, words[2].hasPrefix("HTTP/1.") else { return .refused(.badRequest) }
        let path = String(words[1].prefix { $0 != "?" })
        switch words[0] {
        case "GET": return .get(path: path)
        case "HEAD": return .head(path: path)
        default: return .refused(.badMethod)
        }
    }
}

/// A response of HTTP/1.1 that ends its connection.
struct HTTPResponse: Equatable {
    /// The status line's code and reason.
    enum Status: Int {
        case ok = 200
        case badRequest = 400
        case notFound = 404
        case badMethod = 405
        case headTooLarge = 431
        case unavailable = 503

        fileprivate var reason: String {
            switch self {
            case .ok: "OK"
            case .badRequest: "Bad Request"
            case .notFound: "Not Found"
            case .badMethod: "Method Not Allowed"
            case .headTooLarge: "Request Header Fields Too Large"
            case .unavailable: "Service Unavailable"
            }
        }
    }

    let status: Status
    /// The content's type.
    var type = "text/plain; charset=utf-8"
    let content: [UInt8]

    /// A response with a line of text.
    init(_ status: Status, _ line: String) {
        self.status = status
        content = Array((line + "\n").utf8)
    }

    /// A response with metrics.
    init(metrics content: [UInt8]) {
        status = .ok
        type = "text/plain; version=0.0.4; charset=utf-8"
        self.content = content
    }

    /// The bytes to send; without the content if `isHead`.
    func bytes(isHead: Bool) -> [UInt8] {
        var head = "HTTP/1.1 \(status.rawValue) \(status.reason)\r\n"
        head += "Content-Type: \(type)\r\nContent-Length: \(content.count)\r\n"
        if status == .badMethod { head += "Allow: GET, HEAD\r\n" }
        head += "Connection: close\r\n\r\n"
        return Array(head.utf8) + (isHead ? [] : content)
    }
}
