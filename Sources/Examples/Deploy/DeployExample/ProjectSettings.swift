public import ReactorCore

/// What a project runs, and when.
@WireCodable
public struct ProjectSettings: Equatable, Sendable {
    /// The script that a worker performs.
    public var script = "true"
    /// The script that the daemon performs after a worker's success; nil without a deployment.
    public var deployScript: String?
    /// Where that script deploys.
    public var environment: Environment = .production
    /// The time of the nightly run; nil without one.
    public var nightly: TimeOfDay?
    /// The project to build after a success; nil for none.
    public var next: String?
    /// Whether new runs are refused.
    public var isPaused = false
    /// The user that set these settings, as the project has noted it; nil for the first settings,
    /// and in histories of earlier builds.
    public var author: UInt32?

    /// Creates the settings of a new project.
    public init() {}

    /// Rejects settings that no run could use.
    func check() throws(Rejection) {
        guard !script.allSatisfy(\.isWhitespace), script.count <= 10_000 else {
            throw Rejection("bad_script", "a script has 1 to 10,000 characters")
        }
        try nightly?.check()
        try next?.checkProjectName()
    }

    /// Rejects a caller whose user has not set these settings.
    func checkAuthor(_ caller: Caller) throws(Rejection) {
        guard author != caller.uid else { return }
        let other = author.map { "user \($0)" } ?? "an unknown user"
        throw Rejection("changed_since", "\(other) set these settings, not user \(caller.uid)")
    }
}

/// The last change of a project's settings.
@WireCodable
@MemberwiseInit
public struct SettingsChange: Equatable, Sendable {
    /// The user whose client changed the settings, or took back a change.
    public var uid: UInt32
    /// When that was.
    public var at: WallTime
}

/// A time of day in UTC.
@WireCodable
@MemberwiseInit
public struct TimeOfDay: Hashable, Sendable {
    /// Hours since midnight, 0 to 23.
    public var hour: Int
    /// Minutes of the hour, 0 to 59.
    public var minute: Int

    public static var wireVersion: Int { 2 }

    /// Version 1 had the minutes since midnight.
    public static var wireMigrations: WireMigrations {
        .from(1) { time in
            let minutes = try time.read("minute", as: Int.self)
            try time.set("hour", to: minutes / 60)
            try time.set("minute", to: minutes % 60)
        }
    }

    /// Rejects a time that no day has.
    func check() throws(Rejection) {
        guard (0..<24).contains(hour), (0..<60).contains(minute) else {
            throw Rejection(
                "bad_time", "a day has the times 0:0 to 23:59, and not \(hour):\(minute)")
        }
    }

    /// The time from `now` to the next time of this kind: more than zero, and at most a day.
    func delay(after now: WallTime) -> Duration {
        let day: Int64 = 86_400_000
        let past = (now.milliseconds - Int64(hour * 60 + minute) * 60_000) % day
        return .milliseconds(past < 0 ? -past : day - past)
    }
}
