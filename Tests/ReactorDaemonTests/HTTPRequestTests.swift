import Testing

@testable import ReactorDaemon

/// Drives ``HTTPResponse``.
@Suite("HTTPRequest")
struct HTTPRequestTests {
    private func read(_ text: String, inPartsOf count: Int = .max) -> HTTPRequest.State {
        var request = HTTPRequest()
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let part = Array(rest.prefix(count))
            rest = rest.dropFirst(part.count)
            request.receive(part.span)
        }
        return request.state
    }

    @Test("a request is read in any split", arguments: [1, 2, 3, 7, 64])
    func splits(count: Int) {
        let text = "GET /metrics?name=a HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n"
        #expect(read(text, inPartsOf: count) == .get(path: "/metrics"))
        for end in 1..<text.utf8.count {
            let start = String(decoding: text.utf8.prefix(end), as: UTF8.self)
            #expect(read(start, inPartsOf: count) == .incomplete)
        }
        #expect(read("HEAD /livez HTTP/1.0\n\n", inPartsOf: count) == .head(path: "/livez"))
    }

    @Test(
        "other requests are refused with their status",
        arguments: [
            ("POST /metrics HTTP/1.1\r\n\r\n", HTTPResponse.Status.badMethod),
            ("GET /metrics\r\n\r\n", .badRequest), ("\r\n\r\n", .badRequest),
            ("GET /metrics HTTP/2\r\n\r\n", .badRequest),
            (String(repeating: "a", count: HTTPRequest.byteCountMax), .headTooLarge),
        ])
    func refusals(text: String, status: HTTPResponse.Status) {
        #expect(read(text) == .refused(status))
    }

    @Test("bytes after a request do not change it")
    func later() {
        #expect(read("GET /a HTTP/1.1\r\n\r\nGET /b HTTP/1.1\r\n\r\n") == .get(path: "/a"))
    }

    @Test("a response states its length, and the response to HEAD has no content")
    func response() {
        let response = HTTPResponse(.badMethod, "no")
        let text = String(decoding: response.bytes(isHead: false), as: UTF8.self)
        #expect(text.hasPrefix("HTTP/1.1 405 Method Not Allowed\r\n"))
        #expect(text.contains("\r\nContent-Length: 3\r\nAllow: GET, HEAD\r\n"))
        #expect(text.hasSuffix("\r\nConnection: close\r\n\r\nno\n"))
        let head = String(decoding: response.bytes(isHead: true), as: UTF8.self)
        #expect(head + "no\n" == text)
    }
}
