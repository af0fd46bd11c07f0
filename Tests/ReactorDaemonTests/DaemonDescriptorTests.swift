import ReactorWire
import TestPrograms
import Testing

/// A daemon that cannot open more files.
@Suite("Out of descriptors", .serialized, .timeLimit(.minutes(10)))
struct DaemonDescriptorTests {
    /// The descriptor limit: just above the open descriptors, or below all of them, so that not
    /// even a descriptor kept in reserve can be opened.
    enum Place: String, CaseIterable {
        case aboveAll, belowAll
    }

    @Test(
        "S36, S37: without descriptors a daemon pauses its listener, serves on, and resumes",
        arguments: Place.allCases)
    func parked(_ place: Place) async throws {
        let daemon = try await DaemonProcess.start()
        let client = try #require(RawSocket.welcomed(at: daemon.socketPath))
        let open = daemon.openDescriptors
        let free = try #require((0...open.count).first { !open.contains($0) })
        try await daemon.limitDescriptors(to: place == .aboveAll ? free : 3)
        let waiting = (0..<5).compactMap { _ in RawSocket(daemon.socketPath) }
        #expect(waiting.count == 5)
        for guest in waiting { guest.send(RawSocket.hello) }
        #expect(client.isAnswered())
        let before = try #require(daemon.processorTicks)
        // No client can be accepted, so no data arrives in this second.
        #expect(!waiting[0].isReadable(within: 1_000))
        let used = try #require(daemon.processorTicks) - before
        #expect(used <= 5, "\(used * 10) ms of processor time in a second")
        #expect(client.isAnswered())
        #expect(await holds { daemon.log.contains("out of file descriptors") })
        try await daemon.limitDescriptors(to: 1_024)
        for guest in waiting { #expect(guest.frame()?.kind == .welcome) }
        #expect(await daemon.stop() == .exited(0))
    }

    @Test("S36: a daemon with a low descriptor limit admits fewer clients, and logs it")
    func few() async throws {
        let daemon = try await DaemonProcess.start(
            config: """
                limits:
                  connectionsMax: 1000000
                  connectionsPerUIDMax: 1000000
                \(DaemonProcess.example)
                """)
        #expect(await holds { daemon.log.contains("connectionsMax lowered") })
        #expect(RawSocket.welcomed(at: daemon.socketPath) != nil)
    }
}
