/// Source files that have no test file of their own, and why.
///
/// A file that has got its test, or is gone, must leave this list.
enum Exemptions {
    static let untested: [String: String] = [
        "ReactorMacros/Plugin.swift": "lists the macros; every expansion test goes through it",
        "ReactorWire/WireLimits.swift": "constants; each is tested where it limits",
        "reactorctl/main.swift": "tested end to end, as a process",
        "reactord/ReactordCommand.swift": "tested end to end, as a process",
        "reactord/StockKinds.swift": "a table; every kind is built from the example configuration",
    ]
}
