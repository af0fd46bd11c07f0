/// The number of public declarations that each library may have at most.
///
/// A declaration is public if an author's or a client's program uses it. Raise a number only for
/// such a declaration: `package` is enough for all others, also for inlined code.
enum Surface {
    /// A limit this far above the count must be lowered to it.
    static let slackMax = 10

    /// Maxima by target.
    static let publicMax: [String: Int] = [
        "DeployExample": 152,
        "LoginExample": 14,
        "ReactorClient": 276,
        "ReactorCore": 710,
        "ReactorDaemon": 76,
        "ReactorDaemonCommand": 8,
        "ReactorFoundation": 19,
        "ReactorJournal": 12,
        "ReactorLoop": 34,
        "ReactorServer": 45,
        "ReactorTesting": 237,
        "ReactorWire": 424,
        "StockReactors": 153,
        "TrackerExample": 37,
    ]
}
