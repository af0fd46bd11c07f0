import Testing

@testable import ReactorWire

@Suite("Half floats")
struct HalfFloatTests {
    @Test("every half survives a round trip through a single, except NaNs")
    func roundTrip() {
        for bits in UInt16.min...UInt16.max {
            let value = HalfFloat.value(bits)
            if bits & 0x7fff > 0x7c00 {
                #expect(value.isNaN && HalfFloat.bits(exactly: value) == nil)
            } else {
                #expect(HalfFloat.bits(exactly: value) == bits)
            }
        }
    }

    @Test(
        "the least, the greatest and the special halves have the values of the standard",
        arguments: [
            (0x0001, 0x1p-24), (0x03ff, 0x1.ff8p-15), (0x0400, 0x1p-14), (0x3c00, 1), (0xc000, -2),
            (0x7bff, 65504), (0x7c00, .infinity), (0xfc00, -.infinity), (0x3555, 0.333251953125),
        ] as [(UInt16, Float)])
    func values(bits: UInt16, value: Float) {
        #expect(HalfFloat.value(bits) == value)
        #expect(HalfFloat.bits(exactly: value) == bits)
    }

    @Test(
        "a single between two halves, or beyond them, has no half",
        arguments: [
            0x1p-25, 0x1.8p-24, 0x1.002p-14, 65505, 65536, 0.1, .leastNonzeroMagnitude, 1 + 0x1p-11,
        ] as [Float])
    func none(value: Float) {
        #expect(HalfFloat.bits(exactly: value) == nil)
        #expect(HalfFloat.bits(exactly: -value) == nil)
    }

    @Test("zeros keep their sign")
    func zeros() {
        #expect(HalfFloat.bits(exactly: 0.0) == 0)
        #expect(HalfFloat.bits(exactly: -0.0) == 0x8000)
        #expect(HalfFloat.value(0x8000).sign == .minus)
    }
}
