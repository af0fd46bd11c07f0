import ReactorWire

/// Claims about the decoders of values, for any bytes.
enum ValueClaims {
    static func check(_ input: [UInt8]) {
        let bytes = input.span
        var skipping = WireCursor()
        let isSkipped = succeeds { () throws(WireError) in try skipping.skip(in: bytes) }
        var decoding = WireCursor()
        let value = try? WireValue.decode(bytes, &decoding)

        // Skipping is more lenient: it accepts keys of any kind and duplicate keys.
        if value != nil {
            claim(isSkipped, "a value that decodes can be skipped")
            claim(skipping.offset == decoding.offset, "skipping ends where decoding ends")
        }
        claim(skipping.offset <= input.count, "skipping stays within the bytes")
        claim(decoding.offset <= input.count, "decoding stays within the bytes")
        guard let value else { return }

        claim(skipping.depthLeft == WireLimits.depthMax, "skipping leaves every container")
        claim(decoding.depthLeft == WireLimits.depthMax, "decoding leaves every container")
        let written = value.wireBytes()
        let again = try? WireValue(wireBytes: written)
        claim(again == value, "a value survives being written and read: \(value)")
        claim(again?.wireBytes() == written, "a value has one form in bytes: \(value)")
    }
}

/// Ends the process unless the claim holds.
func claim(_ holds: Bool, _ sentence: @autoclosure () -> String) {
    // In an optimised build, a precondition does not print its message.
    if !holds { fatalError("refuted: \(sentence())") }
}

/// Whether `body` returns without throwing.
func succeeds<Failure: Error>(_ body: () throws(Failure) -> Void) -> Bool {
    do {
        try body()
        return true
    } catch {
        return false
    }
}
