#if Cluster
    @testable import ReactorEtcd
    import Testing

    /// ``GRPCSession`` and ``HTTP2Session``, with a server's frames as bytes.
    struct GRPCSessionTests {
        /// A session with one call, whose output was taken.
        private func called(
            isOnly: Bool = true, answerBytesMax: Int = 1 << 20
        ) throws -> (session: GRPCSession, call: Int32) {
            var session = try GRPCSession(answerBytesMax: answerBytesMax)
            let call = try session.call("/t.T/M", [1, 2, 3], isOnly: isOnly)
            _ = try session.receive(frame(4, 0, 0, []).span)
            _ = try session.takeOutput()
            return (session, call)
        }

        private func frame(
            _ kind: UInt8, _ flags: UInt8, _ stream: Int32, _ body: [UInt8]
        ) -> [UInt8] {
            let count = UInt32(body.count)
            return [UInt8(count >> 16), UInt8(count >> 8 & 255), UInt8(count & 255), kind, flags]
                + [0, 0, 0, UInt8(stream)] + body
        }

        /// A frame with header fields, as literals that no table has; `endsStream` for trailers.
        private func fields(
            _ stream: Int32, _ fields: [(String, String)], endsStream: Bool
        ) -> [UInt8] {
            let body = fields.flatMap { name, value in
                [0, UInt8(name.utf8.count)] + name.utf8 + [UInt8(value.utf8.count)] + value.utf8
            }
            return frame(1, endsStream ? 5 : 4, stream, body)
        }

        private func head(_ stream: Int32) -> [UInt8] {
            fields(
                stream, [(":status", "200"), ("content-type", "application/grpc")],
                endsStream: false)
        }

        private func data(_ stream: Int32, _ bytes: [UInt8]) -> [UInt8] {
            frame(0, 0, stream, bytes)
        }

        private let ok = GRPCStatus(code: .ok, text: "")

        @Test("a connection begins with the preface, and a request carries the message once")
        func request() throws {
            var session = try GRPCSession(answerBytesMax: 1)
            _ = try session.call("/t.T/M", [1, 2, 3], isOnly: true)
            let output = try session.takeOutput()
            #expect(output.starts(with: Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)))
            // DATA with END_STREAM: not compressed, 3 bytes.
            let data = frame(0, 1, 1, [0, 0, 0, 0, 3, 1, 2, 3])
            #expect(output.suffix(data.count).elementsEqual(data))
            #expect(try session.takeOutput().isEmpty)
        }

        @Test("a stream for further messages stays open, and its cancellation resets it")
        func openRequest() throws {
            var (session, call) = try called(isOnly: false)
            try session.cancel(call)
            #expect(try session.takeOutput() == frame(3, 0, 1, [0, 0, 0, 8]))
            #expect(try session.receive((head(1) + data(1, [0, 0, 0, 0, 0])).span) == [])
        }

        @Test("an answer arrives as it was sent, wherever the bytes are split")
        func splits() throws {
            let end = fields(1, [("grpc-status", "0"), ("grpc-message", "")], endsStream: true)
            let answer = head(1) + data(1, [0, 0, 0]) + data(1, [0, 2, 7, 8]) + end
            let expected: [GRPCEvent] = [.message(1, [7, 8]), .ended(1, ok)]
            for index in 0...answer.count {
                var session = try called().session
                var events = try session.receive(Array(answer[..<index]).span)
                events += try session.receive(Array(answer[index...]).span)
                #expect(events == expected, "split at byte \(index)")
            }
            var session = try called().session
            var events: [GRPCEvent] = []
            for byte in answer { events += try session.receive([byte].span) }
            #expect(events == expected)
        }

        @Test("several messages in one frame are several answers")
        func severalMessages() throws {
            var session = try called(isOnly: false).session
            let bytes: [UInt8] = [0, 0, 0, 0, 1, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 6]
            #expect(
                try session.receive((head(1) + data(1, bytes)).span)
                    == [.message(1, [5]), .message(1, []), .message(1, [6])])
        }

        @Test(
            "the result has the server's code and decoded text",
            arguments: [
                (
                    "14", "etcdserver: no leader",
                    GRPCStatus(code: .unavailable, text: "etcdserver: no leader")
                ),
                (
                    "8", "100%25 of %C3%A4, %zz %",
                    GRPCStatus(code: .resourceExhausted, text: "100% of ä, %zz %")
                ),
                ("99", "x", GRPCStatus(code: .unknown, text: "code 99: x")),
            ])
        func results(code: String, text: String, status: GRPCStatus) throws {
            var session = try called().session
            // An error has its result in the first fields.
            let answer = fields(
                1, [(":status", "200"), ("grpc-status", code), ("grpc-message", text)],
                endsStream: true)
            #expect(try session.receive(answer.span) == [.ended(1, status)])
        }

        @Test("a stream that ends without a result is unavailable, and says why")
        func noResult() throws {
            func status(_ answer: [UInt8]) throws -> [GRPCEvent] {
                var session = try called().session
                return try session.receive(answer.span)
            }
            func unavailable(_ text: String) -> [GRPCEvent] {
                [.ended(1, GRPCStatus(code: .unavailable, text: text))]
            }
            #expect(
                try status(fields(1, [(":status", "503")], endsStream: true))
                    == unavailable("HTTP status 503"))
            #expect(
                try status(frame(3, 0, 1, [0, 0, 0, 7]))
                    == unavailable("the stream ended with HTTP/2 error 7"))
        }

        @Test("a compressed message, or one above the limit, ends its call alone")
        func unreadable() throws {
            let texts: [[UInt8]: String] = [
                [1, 0, 0, 0, 0]: "the answer is compressed",
                [0, 0, 0, 0, 9]: "the answer has 9 bytes, and at most 8 are read",
            ]
            for (bytes, text) in texts {
                var (session, _) = try called(answerBytesMax: 8)
                let events = try session.receive((head(1) + data(1, bytes)).span)
                guard events.count == 1, case .ended(1, let status) = events[0] else {
                    Issue.record("\(events)")
                    continue
                }
                #expect(status.text == text)
                // RST_STREAM with CANCEL.
                #expect(try session.takeOutput().suffix(13) == frame(3, 0, 1, [0, 0, 0, 8])[...])
                #expect(session.canCall)
            }
        }

        @Test("the server's GOAWAY lets the open call end, and no further call begin")
        func goAway() throws {
            var session = try called().session
            #expect(session.canCall)
            let goAway = frame(7, 0, 0, [0, 0, 0, 1, 0, 0, 0, 0])
            #expect(try session.receive(goAway.span) == [])
            #expect(!session.canCall)
            let end = fields(1, [("grpc-status", "0")], endsStream: true)
            #expect(try session.receive((head(1) + end).span) == [.ended(1, ok)])
        }

        @Test("a PING is answered, and bytes that are not HTTP/2 are a fault")
        func control() throws {
            var session = try called().session
            let ping: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]
            _ = try session.receive(frame(6, 0, 0, ping).span)
            #expect(try session.takeOutput() == frame(6, 1, 0, ping))
            // The server's side begins with a SETTINGS frame.
            var other = try GRPCSession(answerBytesMax: 1)
            _ = try other.takeOutput()
            _ = try other.receive(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8).span)
            // GOAWAY with PROTOCOL_ERROR.
            #expect(try other.takeOutput().prefix(17).suffix(4) == [0, 0, 0, 1])
            #expect(throws: HTTP2Fault.self) { _ = try other.takeOutput() }
        }
    }
#endif
