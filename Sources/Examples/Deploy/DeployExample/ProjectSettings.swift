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

    /// Creates the settings of a new project.
    public init() {}

    /// Rejects settings that no run could use.
    func check() throws(Rejection) {
        guard !script.allSatisfy(\.isWhitespace), script.count <= 10_000 else {
            throw Rejection("bad_script", "a script has 1 to 10,000 characters")
        }
        if let nightly, !(0..<TimeOfDay.minutesADay).contains(nightly.minute) {
            throw Rejection("bad_time", "a day has \(TimeOfDay.minutesADay) minutes, from 0")
        }
        try next?.checkProjectName()
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
    /// Number of minutes in a day.
    public static let minutesADay = 1_440

    /// Minutes since midnight.
    public var minute: Int

    /// The time from `now` to the next time of this kind: more than zero, and at most a day.
    func delay(after now: WallTime) -> Duration {
        let day = Int64(Self.minutesADay) * 60_000
        let past = (now.milliseconds - Int64(minute) * 60_000) % day
        return .milliseconds(past < 0 ? -past : day - past)
    }
}
