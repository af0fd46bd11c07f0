import ReactorWire

/// Claims about JSON, for any text.
enum JSONClaims {
    static func check(_ input: [UInt8]) {
        if let value = try? WireValue(json: input) {
            roundTrip(value)
            let written = value.wireBytes()
            claim((try? WireValue(wireBytes: written)) == value, "what JSON says fits the wire")
        }
        if let value = try? WireValue(wireBytes: input) { roundTrip(value) }
    }

    private static func roundTrip(_ value: WireValue) {
        for ascii in [false, true] {
            let text = value.json(ascii: ascii)
            claim((try? WireValue(json: text)) == value, "a value survives JSON: \(text)")
        }
        claim((try? WireValue(json: value.json(pretty: true))) == value, "pretty JSON is the same")
    }
}
