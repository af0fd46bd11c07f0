/// A claim about arbitrary bytes, which the fuzzer tries to refute.
///
/// A target ends the process if its claim does not hold; the fuzzer then keeps the input.
enum FuzzTarget: String, CaseIterable {
    /// All decoders of values agree about the same bytes.
    case value
    /// JSON and the wire format represent the same values.
    case json
    /// The server's promises hold for every stream of bytes, however it is split.
    case stream

    /// Checks one input.
    func check(_ input: [UInt8]) {
        switch self {
        case .value: ValueClaims.check(input)
        case .json: JSONClaims.check(input)
        case .stream: StreamClaims.check(input)
        }
    }
}
