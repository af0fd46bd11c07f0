import ReactorBytes
import ReactorLoop
import TestPrograms
import Testing

@testable import ReactorDaemon

/// Drives ``PeerConnection``.
@Suite("A connection between two daemons of a cluster")
struct PeerConnectionTests {
    private let rig: PeerRig
    private let listener: Listener
    private let accepted: Accepted

    /// The other ends of the connections.
    private final class Accepted {
        var sockets: [Connection] = []
    }

    init() throws {
        let (rig, accepted) = (try PeerRig(), Accepted())
        listener = try Listener(at: UnixAddress(rig.path("x")), on: rig.loop)
        listener.onAccept = { accepted.sockets.append($0) }
        listener.resumeAccepting()
        (self.rig, self.accepted) = (rig, accepted)
    }

    private func connect() throws -> (PlayedPeer, Connection) {
        let peer = PlayedPeer(try PeerConnection(to: rig.path("x"), on: rig.loop))
        #expect(try rig.holds { !accepted.sockets.isEmpty })
        return (peer, accepted.sockets.removeFirst())
    }

    @Test("messages cross both ways, in order")
    func both() throws {
        let (left, socket) = try connect()
        let right = PlayedPeer(PeerConnection(socket))
        let large = [UInt8](repeating: 5, count: 2 << 20)
        for message in [.request(large), .beat, .request([1])] as [PeerMessage] {
            left.connection.send(message)
        }
        right.connection.send(.reply([2]))
        #expect(try rig.holds { right.messages.count == 3 && left.messages.count == 1 })
        #expect(right.messages == [.request(large), .beat, .request([1])])
        #expect(left.messages == [.reply([2])] && left.connection.heardAt > 0)
    }

    @Test("garbage ends the connection once, after the messages before it")
    func garbage() throws {
        let (peer, socket) = try connect()
        let bytes = PeerMessage.beat.frame + [1, 0, 0, 0, 0xff] + PeerMessage.beat.frame
        socket.resumeReading()
        socket.write(bytes.span)
        #expect(try rig.holds { peer.ending != nil && socket.isClosed })
        #expect(peer.messages == [.beat])
        #expect(peer.ending?.hasPrefix("a message cannot be read") == true)
    }

    @Test("the other daemon's end is reported, and the owner's close is not")
    func ends() throws {
        let (peer, socket) = try connect()
        socket.close()
        #expect(try rig.holds { peer.ending != nil })
        #expect(peer.ending == "the other daemon closed the connection")
        let (closing, other) = try connect()
        other.resumeReading()
        closing.connection.close()
        #expect(try rig.holds { other.isClosed })
        #expect(closing.ending == nil)
    }

    @Test("a message that is too long ends the connection")
    func tooLong() throws {
        let (peer, _) = try connect()
        let content = [UInt8](repeating: 0, count: PeerMessage.messageBytesMax)
        peer.connection.send(.request(content))
        #expect(peer.ending == nil)
        #expect(try rig.holds { peer.ending != nil })
        #expect(peer.ending?.contains("exceeds messageBytesMax") == true)
    }

    @Test("more bytes than may wait for the other daemon end the connection")
    func stuck() throws {
        let (peer, _) = try connect()
        let content = [UInt8](repeating: 0, count: 16 << 20)
        for _ in 0..<6 { peer.connection.send(.reply(content)) }
        #expect(peer.ending == nil)
        #expect(try rig.holds { peer.ending != nil })
        #expect(peer.ending?.contains("exceed waitingBytesMax") == true)
    }

    @Test("a last message arrives before the end")
    func finish() throws {
        let (left, socket) = try connect()
        let right = PlayedPeer(PeerConnection(socket))
        right.connection.finish(with: .refused("no"))
        #expect(try rig.holds { left.ending != nil })
        #expect(left.messages == [.refused("no")])
        #expect(right.ending == nil)
    }
}
