import ReactorWire
import TestPrograms
import Testing

/// A daemon that may open no more files.
@Suite("Out of descriptors", .serialized, .timeLimit(.minutes(10)))
struct DaemonDescriptorTests {
    /// Where the limit stands: right above what is open, or below all of it, so that nothing the
    /// process has put by can be of use either.
    enum Place: String, CaseIterable {
        case aboveAll, belowAll
    }

    @Test(
        "S36, S37: out of descriptors it parks and does not spin, serves on, and goes on by itself",
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
        // because nobody can be accepted, nothing comes in this second
        #expect(!waiting[0].isReadable(within: 1_000))
        let used = try #require(daemon.processorTicks) - before
        #expect(used <= 5, "\(used * 10) ms of processor time in a second")
        #expect(client.isAnswered())
        #expect(await daemon.comes { daemon.log.contains("out of file descriptors") })
        try await daemon.limitDescriptors(to: 1_024)
        for guest in waiting { #expect(guest.frame()?.kind == .welcome) }
        #expect(await daemon.stop() == .exited(0))
    }

    @Test("S36: a daemon that may open few files admits fewer clients, and says so")
    func few() async throws {
        let daemon = try await DaemonProcess.start(
            config: """
                limits:
                  connectionsMax: 1000000
                  connectionsPerUIDMax: 1000000
                \(DaemonProcess.example)
                """)
        #expect(await daemon.comes { daemon.log.contains("connectionsMax lowered") })
        #expect(RawSocket.welcomed(at: daemon.socketPath) != nil)
    }
}
