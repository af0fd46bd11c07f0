import Foundation
import Glibc
import ReactorWire
import TestPrograms
import Testing

/// Many clients that connect to a real daemon.
@Suite("Many connections", .serialized, .timeLimit(.minutes(10)))
struct DaemonCrowdTests {
    /// Number of connections for which this process and a child have descriptors, at most 10,000.
    private static let idleCount: Int = {
        var limit = rlimit()
        unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return min(10_000, Int(clamping: limit.rlim_cur) - 1_000)
    }()

    @Test(
        "S33: thousands of idle connections use at most 20 KiB each, the next is refused with BUSY")
    func idle() async throws {
        let count = Self.idleCount
        try #require(count > 100)
        let daemon = try await DaemonProcess.start(
            config: """
                limits:
                  connectionsMax: \(count)
                  connectionsPerUIDMax: \(count)
                \(DaemonProcess.example)
                """)
        var idle = [try #require(RawSocket.welcomed(at: daemon.socketPath))]
        let before = try #require(daemon.residentBytes)
        while idle.count < count {
            let socket = try #require(RawSocket(daemon.socketPath), "after \(idle.count): \(errno)")
            socket.send(RawSocket.hello)
            let answer = try #require(socket.frame(), "after \(idle.count): \(daemon.log)")
            try #require(answer.kind == .welcome, "after \(idle.count): \(daemon.log)")
            idle.append(socket)
        }
        let after = try #require(daemon.residentBytes)
        #expect(after - before <= count * (20 << 10), "\((after - before) / count) bytes each")
        let next = try #require(RawSocket(daemon.socketPath))
        next.send(RawSocket.hello)
        let closing = try #require(next.frame())
        #expect(closing.kind == .closing)
        #expect(try Closing(wireBytes: closing.body).code == .busy)
        #expect(next.frame() == nil)
        #expect(
            await holds {
                (try? stats(idle[0]))?["connections"] == UInt64(count)
            })
        #expect(try #require(stats(idle[0])["keptBytes"]) <= UInt64(count * (20 << 10)))
        #expect(idle[count / 2].isAnswered())
    }

    private func stats(_ socket: RawSocket) throws -> [String: UInt64] {
        var writer = WireWriter()
        let frame = writer.beginFrame(.ask, number: 1)
        Question.stats.encode(into: &writer)
        writer.endFrame(at: frame)
        socket.send(writer.bytes)
        return try [String: UInt64](wireBytes: try #require(socket.frame()).body)
    }

    @Test(
        "S34: after a storm of connections the daemon listens, with as many open files as before")
    func storm() async throws {
        let daemon = try await DaemonProcess.start()
        let client = try #require(RawSocket.welcomed(at: daemon.socketPath))
        let before = daemon.openDescriptors
        for round in 0..<5_000 {
            let guest = try #require(RawSocket(daemon.socketPath))
            switch round % 4 {
            case 0: break
            case 1: guest.send(RawSocket.hello)
            case 2: guest.send(Array("GET / HTTP/1.1\r\n\r\n".utf8))
            default: guest.send(Array(RawSocket.hello.prefix(round % 20)))
            }
        }
        #expect(client.isAnswered())
        #expect(await holds { daemon.openDescriptors == before })
        #expect(RawSocket.welcomed(at: daemon.socketPath)?.isAnswered() == true)
        let counters = try stats(client)
        #expect(counters["connections"] == 1 || counters["connections"] == 2)
        #expect(daemon.log.split(separator: "\n").count < 50)
    }

    // [WIRE-12-2]
    @Test("S38: 200 clients that send HELLO at once are all welcomed")
    func burst() async throws {
        for _ in 0..<5 {
            let daemon = try await DaemonProcess.start()
            // A stopped daemon finds all of them when it continues.
            daemon.signal(SIGSTOP)
            let clients = (0..<200).compactMap { _ in RawSocket(daemon.socketPath) }
            #expect(clients.count == 200)
            #expect(clients.allSatisfy { $0.send(RawSocket.hello) })
            daemon.signal(SIGCONT)
            #expect(clients.allSatisfy { $0.frame()?.kind == .welcome })
        }
    }

    @Test("the daemon handles SIGTERM while 500 checksums of a large map wait for their answers")
    func checksums() async throws {
        let daemon = try await DaemonProcess.start(
            config: """
                reactors:
                  large:
                    kind: map
                    capacity: 50000
                """)
        let client = try #require(RawSocket.welcomed(at: daemon.socketPath))
        open(["/large"], on: client)
        let value = WireValue.text(String(repeating: "v", count: 400))
        for number in UInt64(1)...25 {
            let keys = (0..<2_000).map { WireKey("key \($0) of \(number)") }
            let entries = try WireMap(keys.map { WireMap.Pair(key: $0, value: value) })
            let merge: WireValue = ["merge": ["entries": .map(entries)]]
            client.send(.dispatch, id: 0, number: number, merge.wireBytes())
            #expect(client.frame()?.kind == .applied)
        }
        // Before each question an action makes the checksum before it stale. Each question spells
        // the path in its own way.
        var storm = WireWriter()
        for number in UInt64(26)..<526 {
            let set: WireValue = ["set": ["key": "key", "value": .text("value \(number)")]]
            let dispatch = storm.beginFrame(.dispatch, id: 0, number: number)
            storm.raw(set.wireBytes())
            storm.endFrame(at: dispatch)
            let letters = "entries".utf8.enumerated().map { index, letter in
                number >> index & 1 == 0
                    ? String(UnicodeScalar(letter)) : "%" + String(letter, radix: 16)
            }
            let question = storm.beginFrame(.ask, number: number)
            Question.checksum(path: "/large/" + letters.joined()).encode(into: &storm)
            storm.endFrame(at: question)
        }
        // A stopped daemon finds all of them, and the signal, when it continues. In one call they
        // fit the socket's buffer, where a thousand small ones would block.
        daemon.signal(SIGSTOP)
        #expect(client.send(storm.bytes))
        daemon.signal(SIGTERM)
        daemon.signal(SIGCONT)
        // Encoding the map 500 times would exceed the suite's time limit.
        #expect(await daemon.ended() == .exited(0), "\(daemon.log)")
        #expect(daemon.log.contains("stopped"))
    }

    // [WIRE-1-8]
    @Test("W22: objects owned by a closed connection are released while it waits for an answer")
    func deadWaiter() async throws {
        let daemon = try await DaemonProcess.start(
            config: """
                reactors:
                  here:
                    kind: presence
                  first:
                    kind: lock
                  second:
                    kind: lock
                """)
        let holder = try #require(RawSocket.welcomed(at: daemon.socketPath))
        open(["/first"], on: holder)
        #expect(acquire(0, 1, on: holder) == .outcome)
        for halfCloses in [false, true] {
            var waiter = RawSocket(daemon.socketPath)
            let secret = try await own(#require(waiter), daemon)
            if halfCloses { waiter?.shutDown() }
            waiter = nil
            #expect(
                await holds {
                    (try? self.value("/here/members", holder)) == .map(WireMap())
                        && (try? self.value("/second/holder", holder)) == .null
                        && (try? self.value("/first/waiters", holder)) == .array([])
                }, "half-closed first: \(halfCloses)")
            let again = try #require(RawSocket(daemon.socketPath))
            again.send(.hello, number: Hello.magic, Hello(session: secret).wireBytes())
            #expect(try Welcome(wireBytes: #require(again.frame()).body).isResumed)
        }
    }

    /// Joins the presence, takes the second lock and waits for the first; returns the session.
    private func own(_ socket: RawSocket, _ daemon: DaemonProcess) async throws -> [UInt8] {
        socket.send(RawSocket.hello)
        let welcome = try Welcome(wireBytes: #require(socket.frame()).body)
        open(["/first", "/second", "/here"], on: socket)
        socket.send(.dispatch, id: 2, number: 1, (["join": [:]] as WireValue).wireBytes())
        #expect(socket.frame()?.kind == .applied)
        #expect(acquire(1, 2, on: socket) == .outcome)
        let wait: WireValue = ["acquire": ["wait": true]]
        socket.send(.dispatch, id: 0, number: 3, wait.wireBytes())
        #expect(socket.isAnswered())
        guard case .map(let members) = try value("/here/members", socket) else { return [] }
        #expect(members.map(\.key.text) == ["\(welcome.connection)"], "by the number of welcome")
        return welcome.session
    }

    private func open(_ paths: [String], on socket: RawSocket) {
        for (id, path) in paths.enumerated() {
            socket.send(.open, id: UInt32(id), number: 1, Open(path: path).wireBytes())
            #expect(socket.frame()?.kind == .opened)
        }
    }

    private func acquire(_ id: UInt32, _ ordinal: UInt64, on socket: RawSocket) -> FrameKind? {
        socket.send(
            .dispatch, id: id, number: ordinal, (["acquire": [:]] as WireValue).wireBytes())
        return socket.frame()?.kind
    }

    private func value(_ path: String, _ socket: RawSocket) throws -> WireValue {
        socket.send(.ask, number: 9, Question.get(path: path).wireBytes())
        guard case .array(let parts) = try WireValue(wireBytes: #require(socket.frame()).body)
        else { return .null }
        return parts[2]
    }

    @Test(
        "W32: a flood of frames without answers is handled completely, in turn with other clients"
    )
    func flood() async throws {
        let daemon = try await DaemonProcess.start()
        let flooder = try #require(RawSocket.welcomed(at: daemon.socketPath))
        let other = try #require(RawSocket.welcomed(at: daemon.socketPath))
        var confirm = WireWriter()
        for _ in 0..<2_000 { confirm.header(FrameHeader(kind: .confirm)) }
        let frames = confirm.bytes
        for _ in 0..<50 {
            #expect(flooder.send(frames))
            #expect(other.isAnswered())
        }
        #expect(flooder.isAnswered())
    }

    @Test(
        "S38: a user's silent connections do not delay others: the next client is welcomed at once")
    func silent() async throws {
        let daemon = try await DaemonProcess.start()
        let silent = (0..<200).compactMap { _ in RawSocket(daemon.socketPath) }
        #expect(silent.count == 200)
        #expect(RawSocket.welcomed(at: daemon.socketPath)?.isAnswered() == true)
        // Surplus connections were refused, and the latest may still send HELLO.
        #expect(try Closing(wireBytes: try #require(silent[0].frame()).body).code == .busy)
        let last = try #require(silent.last)
        last.send(RawSocket.hello)
        #expect(last.frame()?.kind == .welcome)
    }
}
