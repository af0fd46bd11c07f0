import Foundation
import Glibc
import ReactorWire
import TestPrograms
import Testing

/// Many clients at the door of a real daemon.
@Suite("Many connections", .serialized, .timeLimit(.minutes(10)))
struct DaemonCrowdTests {
    /// Connections for which this process and a child of it may have descriptors, 10,000 at most.
    private static let idleCount: Int = {
        var limit = rlimit()
        unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return min(10_000, Int(clamping: limit.rlim_cur) - 1_000)
    }()

    @Test("S33: thousands of idle connections cost 20 KiB each at most, the next is told BUSY")
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
            idle.append(try #require(RawSocket.welcomed(at: daemon.socketPath)))
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
            await daemon.comes {
                (try? stats(idle[0]))?["connections"] == UInt64(count)
            })
        #expect(try #require(stats(idle[0])["keptBytes"]) <= UInt64(count * (20 << 10)))
        #expect(idle[count / 2].isAnswered())
    }

    private func stats(_ socket: RawSocket) throws -> [String: UInt64] {
        var writer = WireWriter()
        let frame = writer.beginFrame(.ask, number: 1)
        Ask.stats.encode(into: &writer)
        writer.endFrame(at: frame)
        socket.send(writer.bytes)
        return try [String: UInt64](wireBytes: try #require(socket.frame()).body)
    }

    @Test(
        "S34: a storm of connects leaves the daemon as it was: listening, with as many files open")
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
        #expect(await daemon.comes { daemon.openDescriptors == before })
        #expect(RawSocket.welcomed(at: daemon.socketPath)?.isAnswered() == true)
        let counters = try stats(client)
        #expect(counters["connections"] == 1 || counters["connections"] == 2)
        #expect(daemon.log.split(separator: "\n").count < 50)
    }

    @Test("W32: a flood of frames without answers is handled to its end, with others in between")
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

    @Test("S38: a user's silent connections keep nobody waiting: the next is welcomed at once")
    func silent() async throws {
        let daemon = try await DaemonProcess.start()
        let silent = (0..<200).compactMap { _ in RawSocket(daemon.socketPath) }
        #expect(silent.count == 200)
        #expect(RawSocket.welcomed(at: daemon.socketPath)?.isAnswered() == true)
        // because those that were too many were told so, and the latest may still speak
        #expect(try Closing(wireBytes: try #require(silent[0].frame()).body).code == .busy)
        let last = try #require(silent.last)
        last.send(RawSocket.hello)
        #expect(last.frame()?.kind == .welcome)
    }
}
