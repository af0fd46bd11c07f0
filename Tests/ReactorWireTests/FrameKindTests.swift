import ReactorWire
import Testing

@Suite("The kinds of frames")
struct FrameKindTests {
    @Test("W6: kinds from 0x80 may be skipped, lower ones may not")
    func ignorable() {
        for kind in UInt8.min...UInt8.max {
            #expect(FrameKind.isIgnorable(kind) == (kind >= 0x80))
        }
    }

    @Test("a client's kinds and the daemon's do not overlap")
    func directions() {
        let clients: [FrameKind] = [
            .hello, .goodbye, .open, .dispatch, .batch, .subscribe, .unsubscribe, .confirm, .ask,
            .ping,
        ]
        for kind in FrameKind.allCases {
            #expect(clients.contains(kind) == (kind.rawValue < 0x40), "\(kind)")
        }
    }
}
