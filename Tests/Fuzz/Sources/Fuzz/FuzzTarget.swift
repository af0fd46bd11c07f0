/// A claim about any bytes at all, which the fuzzer tries to refute.
///
/// A target ends the process when its claim does not hold; the fuzzer keeps the input.
enum FuzzTarget: String, CaseIterable {
    /// Every decoder of values agrees with every other about the same bytes.
    case value
    /// JSON and the wire hold the same values.
    case json
    /// No stream of bytes, however cut, makes the server do what it must not.
    case stream

    /// Tries one input.
    func check(_ input: [UInt8]) {
        switch self {
        case .value: ValueClaims.check(input)
        case .json: JSONClaims.check(input)
        case .stream: StreamClaims.check(input)
        }
    }
}
