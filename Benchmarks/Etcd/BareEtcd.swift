#if Cluster
    import Glibc

    /// Appends to a log in etcd with one blocking socket and frames of HTTP/2 written by hand: the
    /// floor of what a client can reach.
    ///
    /// *Shape*: entries fit into one frame, so they have at most 8,000 bytes; one request at a
    /// time, each on the next odd stream; answers are read up to the frame that ends the stream.
    /// It implements only the parts of HTTP/2 that this needs.
    final class BareEtcd {
        private let socket: Int32
        private let keys: (leader: [UInt8], log: [UInt8])
        private var stream: UInt32 = 1
        private var input: [UInt8] = []

        /// Connects to the socket at `path`; the keys are those of a cluster called `cluster`.
        init(to path: String, cluster: String) {
            keys = (
                Array("/reactord/\(cluster)/leader".utf8), Array("/reactord/\(cluster)/log".utf8)
            )
            socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            unsafe withUnsafeMutableBytes(of: &address.sun_path) {
                unsafe $0.copyBytes(from: Array(path.utf8))
            }
            let status = unsafe withUnsafePointer(to: &address) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe connect(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            precondition(status == 0, "connect \(path): error \(errno)")
            // An empty SETTINGS frame, and room for all answers of the connection.
            write(Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8))
            write(Self.frame(4, 0, 0, []))
            write(Self.frame(8, 0, 0, [0x3f, 0, 0, 0]))
        }

        deinit { close(socket) }

        /// Appends an entry, as the log's adapter does. Returns whether etcd accepted it.
        func append(_ entry: [UInt8], expected: UInt64, term: UInt64) -> Bool {
            var message = Self.field(1, Self.field(3, keys.log) + Self.number(4, expected))
            let leads = Self.number(2, 2) + Self.field(3, keys.leader) + Self.number(6, term)
            message += Self.field(1, leads)
            message += Self.field(
                2, Self.field(2, Self.field(1, keys.log) + Self.field(2, entry)))
            message += Self.field(3, Self.field(1, Self.field(1, keys.log)))
            message += Self.field(3, Self.field(1, Self.field(1, keys.leader)))
            var data: [UInt8] = [0]
            data += Self.bytes(UInt32(message.count))
            data += message
            var request = Self.frame(1, 4, stream, Self.headers)
            request += Self.frame(0, 1, stream, data)
            write(request)
            defer { stream += 2 }
            // Behind the five bytes of gRPC: field 1, the header, then field 2, the success.
            let answer = readAnswer()
            guard answer.count > 6 else { return false }
            let rest = answer.dropFirst(7 + Int(answer[6]))
            return rest.prefix(2) == [0x10, 1]
        }

        /// Reads the answer on the current stream.
        private func readAnswer() -> [UInt8] {
            var data: [UInt8] = []
            while true {
                fill(9)
                let count = Int(input[0]) << 16 | Int(input[1]) << 8 | Int(input[2])
                let (kind, flags) = (input[3], input[4])
                fill(9 + count)
                let body = Array(input[9..<9 + count])
                input.removeFirst(9 + count)
                switch kind {
                case 0: data += body
                case 1 where flags & 1 != 0: return data
                case 4 where flags & 1 == 0: write(Self.frame(4, 1, 0, []))
                case 6 where flags & 1 == 0: write(Self.frame(6, 1, 0, body))
                case 3, 7: preconditionFailure("etcd ended the stream: frame \(kind), \(body)")
                default: break
                }
            }
        }

        /// Reads until there are `count` bytes of input.
        private func fill(_ count: Int) {
            var buffer = [UInt8](repeating: 0, count: 16 << 10)
            while input.count < count {
                let more = unsafe read(socket, &buffer, buffer.count)
                precondition(more > 0, "etcd ended the connection: error \(errno)")
                input += buffer[..<more]
            }
        }

        private func write(_ bytes: [UInt8]) {
            let count = unsafe Glibc.write(socket, bytes, bytes.count)
            precondition(count == bytes.count, "write: \(count) of \(bytes.count) bytes")
        }

        /// The headers of each request, as literals without an entry in the table of HPACK.
        private static let headers: [UInt8] = {
            var headers: [UInt8] = [0x83, 0x86]
            headers += text([0x04], "/etcdserverpb.KV/Txn")
            headers += text([0x01], "localhost")
            headers += text([0x0f, 0x10], "application/grpc")
            headers += text([0x00, 0x02, 0x74, 0x65], "trailers")
            return headers
        }()

        private static func text(_ name: [UInt8], _ value: String) -> [UInt8] {
            name + [UInt8(value.utf8.count)] + value.utf8
        }

        private static func frame(
            _ kind: UInt8, _ flags: UInt8, _ stream: UInt32, _ body: [UInt8]
        ) -> [UInt8] {
            var frame = Array(bytes(UInt32(body.count)).dropFirst())
            frame += [kind, flags]
            frame += bytes(stream)
            return frame + body
        }

        private static func bytes(_ number: UInt32) -> [UInt8] {
            [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
        }

        private static func field(_ number: UInt8, _ bytes: [UInt8]) -> [UInt8] {
            [number << 3 | 2] + varint(UInt64(bytes.count)) + bytes
        }

        private static func number(_ number: UInt8, _ value: UInt64) -> [UInt8] {
            [number << 3] + varint(value)
        }

        private static func varint(_ value: UInt64) -> [UInt8] {
            var (rest, bytes) = (value, [UInt8]())
            while rest > 127 {
                bytes.append(UInt8(truncatingIfNeeded: rest) | 128)
                rest >>= 7
            }
            return bytes + [UInt8(rest)]
        }
    }
#endif
