/// Stored properties that other types of the target may set, with the reason.
enum OpenState {
    /// Maximum number of exceptions.
    static let countMax = 5

    /// Reasons by target and type: `ReactorWire/WireWriter`.
    static let reasons: [String: String] = [:]
}
