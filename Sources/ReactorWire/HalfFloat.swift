/// IEEE 754 binary16 for CBOR; Swift has no portable type for it.
enum HalfFloat {
    /// The 16 bits of `value`, if the format can represent it exactly.
    static func bits(exactly value: Float) -> UInt16? {
        let pattern = value.bitPattern
        let sign = UInt16(truncatingIfNeeded: pattern >> 16) & 0x8000
        let exponent = Int((pattern >> 23) & 0xff)
        let fraction = pattern & 0x7f_ffff
        if exponent == 0xff { return fraction == 0 ? sign | 0x7c00 : nil }
        if exponent == 0 { return fraction == 0 ? sign : nil }
        let unbiased = exponent - 127
        if unbiased >= -14 && unbiased <= 15 {
            guard fraction & 0x1fff == 0 else { return nil }
            return sign | UInt16(unbiased + 15) << 10 | UInt16(fraction >> 13)
        }
        guard unbiased >= -24 && unbiased < -14 else { return nil }
        // A subnormal half is fraction * 2^-24: the significand is shifted until it fits.
        let significand = fraction | 0x80_0000
        let shift = UInt32(-unbiased - 14 + 13)
        guard significand & ((1 << shift) - 1) == 0 else { return nil }
        return sign | UInt16(significand >> shift)
    }

    /// The number with these bits.
    static func value(_ bits: UInt16) -> Float {
        let sign: Float = bits & 0x8000 == 0 ? 1 : -1
        let exponent = Int((bits >> 10) & 0x1f)
        let fraction = Float(bits & 0x3ff)
        switch exponent {
        case 0: return sign * fraction * 0x1p-24
        case 31:
            guard bits & 0x3ff == 0 else {
                return Float(
                    bitPattern: UInt32(bits & 0x8000) << 16 | 0x7f80_0000
                        | UInt32(bits & 0x3ff) << 13)
            }
            return sign * .infinity
        default:
            let significand = 1 + fraction / 1024
            return sign * Float(sign: .plus, exponent: exponent - 15, significand: significand)
        }
    }
}
