import ReactorBytes
import ReactorCore
import ReactorWire
import Testing

@testable import ReactorClient

/// The frames that have arrived and have not taken effect, tested alone.
struct InboundTests {
    @Test("updates of several spans are kept until a mark completes them")
    func staging() throws {
        var inbound = Inbound(stagedBytesMax: 10)
        let span: [UInt8] = [1, 2, 3, 4]
        for _ in 0..<2 {
            inbound.beginSpan()
            inbound.stage(from: 1)
            inbound.stage(from: 3)
            #expect(inbound.hasStaged == true)
            try inbound.endSpan(span.span, at: 3)
        }
        let staged = inbound.takeStaged()
        #expect(staged == [2, 3, 2, 3] && inbound.hasStaged == false)
        inbound.stage(from: 2)
        let starts = [inbound.takeSpanStart(), inbound.takeSpanStart()]
        #expect(starts == [2, nil])
    }

    @Test("a mark that has to wait is kept with its updates, until others follow them")
    func deferred() throws {
        var inbound = Inbound(stagedBytesMax: 10)
        let span: [UInt8] = [1, 2, 3, 4]
        inbound.stage(from: 1)
        try inbound.reach(7)
        try inbound.deferMark(span.span, at: 3)
        try inbound.reach(8)
        try inbound.deferMark(span.span, at: 4)
        let kept = inbound.takeDeferred()
        #expect(kept?.mark == 8 && kept?.staged == [2, 3])
        let isKept = inbound.takeDeferred() != nil
        #expect(!isKept && inbound.hasStaged == false)
    }

    @Test("a kept mark waits for the next with the updates after it, or ends with its connection")
    func deferredBehind() throws {
        var inbound = Inbound(stagedBytesMax: 10)
        let span: [UInt8] = [1, 2, 3, 4]
        var kept: [Bool] = []
        try inbound.deferMark(span.span, at: 0)
        inbound.stage(from: 2)
        kept.append(inbound.takeDeferred() != nil)
        try inbound.endSpan(span.span, at: 4)
        kept.append(inbound.takeDeferred() != nil)
        let staged = inbound.takeStaged()
        kept.append(inbound.takeDeferred() != nil)
        try inbound.deferMark(span.span, at: 0)
        inbound.disconnect()
        kept.append(inbound.takeDeferred() != nil)
        try inbound.deferMark(span.span, at: 0)
        inbound.dropDeferred()
        kept.append(inbound.takeDeferred() != nil)
        #expect(kept == [false, false, false, false, false] && staged == [3, 4])
    }

    @Test("more updates without a mark than stagedBytesMax are a fault of the daemon")
    func tooMuch() throws {
        var inbound = Inbound(stagedBytesMax: 3)
        let span: [UInt8] = [1, 2, 3, 4]
        inbound.stage(from: 0)
        #expect(throws: ClientFault.self) { try inbound.endSpan(span.span, at: 4) }
    }

    @Test("marks never decrease, and a mark ends a lag")
    func marks() throws {
        var inbound = Inbound(stagedBytesMax: 10)
        try inbound.reach(5)
        inbound.lag()
        #expect(inbound.isLagging == true && inbound.isResyncing == true)
        try inbound.reach(5)
        #expect(inbound.isLagging == false && inbound.isResyncing == true)
        #expect(throws: ClientFault.self) { try inbound.reach(4) }
        inbound.connect()
        try inbound.reach(1)
        #expect(inbound.mark == 1)
    }

    @Test("held outcomes keep their order, and survive their connection")
    func held() throws {
        var inbound = Inbound(stagedBytesMax: 10)
        try inbound.hold(.done(ordinal: 1), countMax: 1)
        try inbound.hold(.done(ordinal: 2), countMax: 1)
        #expect(throws: ClientFault.self) { try inbound.hold(.done(ordinal: 3), countMax: 1) }
        inbound.disconnect()
        let ordinals = inbound.takeHeld().map { held in
            if case .done(let ordinal) = held { ordinal } else { UInt64(0) }
        }
        #expect(ordinals == [1, 2] && inbound.hasHeld == false)
    }

    @Test("a lost connection drops a partial frame and the updates without a mark")
    func disconnect() throws {
        var inbound = Inbound(stagedBytesMax: 10)
        let span: [UInt8] = [1, 2, 3]
        inbound.stage(from: 0)
        try inbound.endSpan(span.span, at: 2)
        inbound.keep(span.span, after: FrameProgress(end: 2, needed: 20))
        #expect(inbound.hasPartial == true)
        inbound.disconnect()
        #expect(inbound.hasPartial == false && inbound.hasStaged == false)
    }
}
