/// The number of public declarations that each library may have at most.
///
/// A declaration is public if an author's or a client's program uses it. Raise a number only for
/// such a declaration: `package` is enough for all others, also for inlined code.
enum Surface {
    /// A limit this far above the count must be lowered to it.
    static let slackMax = 10

    /// Maxima by target.
    static let publicMax: [String: Int] = [
        "DeployExample": 193,
        "LoginExample": 14,
        "ReactorClient": 290,
        "ReactorCore": 735,
        "ReactorDaemon": 91,
        "ReactorDaemonCommand": 9,
        "ReactorFoundation": 20,
        "ReactorJournal": 14,
        "ReactorLoop": 34,
        "ReactorServer": 49,
        "ReactorTesting": 248,
        "ReactorWire": 450,
        "StockReactors": 153,
        "TrackerExample": 37,
    ]
}
