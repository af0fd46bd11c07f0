import ReactorClient
import ReactorWire

/// The reason why a command fails: one line for the user, an exit code for scripts.
struct Failure: Error {
    var code: Int32
    var text: String

    /// The action was rejected; its outcome is already printed.
    static let rejectedCode: Int32 = 1
    static let usageCode: Int32 = 2
    static let badActionCode: Int32 = 65
    /// The daemon's configuration file has problems.
    static let badConfigCode: Int32 = 65
    static let noPathCode: Int32 = 66
    static let unreachableCode: Int32 = 69
    /// The directory of a backup cannot be created, since something exists at its path.
    static let existsCode: Int32 = 73
    static let outputCode: Int32 = 74
    static let inputCode: Int32 = 74
    static let storageCode: Int32 = 74
    static let unknownCode: Int32 = 75
    /// A reload has applied some of the new values, and the others need a restart; or a restart, or
    /// a change of the leader, did not happen.
    static let unfinishedCode: Int32 = 75
    static let forbiddenCode: Int32 = 77
    static let timeoutCode: Int32 = 124

    init(_ code: Int32, _ text: String) {
        self.code = code
        self.text = text
    }

    /// Creates a failure from a client's error in a command about `path`.
    init(_ error: ClientError, path: String? = nil) {
        switch error {
        case .unreachable(let tried): self.init(tried)
        case .refused(let refusal):
            let remedy = refusal.nearest.map { "; did you mean \($0)?" } ?? ""
            // An action rejected with CONFLICT has the same fault code, so `code(of:)` has no entry
            // for it.
            let code = refusal.code == .conflict ? Self.existsCode : Self.code(of: refusal.code)
            self.init(code ?? Self.usageCode, refusal.message + remedy)
        case .closed(let code, _):
            self.init(Self.code(of: code) ?? Self.unreachableCode, error.description)
        case .unanswered: self.init(Self.unknownCode, error.description)
        case .gone(let path):
            self.init(Self.noPathCode, "\(path) was removed")
        default:
            self.init(Self.unreachableCode, error.description)
        }
    }

    /// Creates a failure from the unsuccessful attempts to reach a daemon.
    private init(_ tried: [ClientError.Attempt]) {
        let last = tried.last
        let place = last.map { "\($0.path): \($0.reason)" } ?? ""
        switch last?.obstacle {
        case .busy:
            self.init(
                Self.unknownCode, "\(place): too many clients are waiting for the daemon: try again"
            )
        case .forbidden:
            self.init(Self.forbiddenCode, "\(place): this user has no permission to connect")
        case .untrusted:
            self.init(Self.forbiddenCode, "\(place) (--daemon-uid)")
        case .absent, .broken, nil:
            let places = tried.map { "\($0.path) (\($0.reason))" }.joined(separator: ", ")
            self.init(
                Self.unreachableCode,
                "no daemon reachable, tried \(places.isEmpty ? "nothing" : places); "
                    + "start one with `reactord --config FILE`, or name it with --daemon, or its socket with --socket"
            )
        }
    }

    /// The exit code for a fault of the daemon, or nil if the request itself is at fault.
    static func code(of fault: FaultCode) -> Int32? {
        switch fault {
        case .notFound, .path, .history: noPathCode
        case .busy, .sessionBusy, .draining, .quota, .elsewhere, .cut: unknownCode
        case .forbidden: forbiddenCode
        case .storage, .diskFull, .memoryFull: storageCode
        default: nil
        }
    }
}

extension Failure {
    /// How long a request is repeated while the daemon is too busy.
    private static let busyTimeout = Duration.seconds(5)

    /// Runs `body` and converts a client's error into a failure. Repeats `body` for some seconds
    /// while the daemon is too busy.
    static func explain<Result>(
        _ path: String? = nil, _ body: () async throws(ClientError) -> Result
    ) async throws(Failure) -> Result {
        var pause = Duration.milliseconds(50)
        var waited = Duration.zero
        while true {
            do throws(ClientError) {
                return try await body()
            } catch {
                guard case .refused(let refusal) = error, refusal.code == .busy,
                    waited < busyTimeout, (try? await Task.sleep(for: pause)) != nil
                else { throw Failure(error, path: path) }
                waited += pause
                pause = min(pause * 2, .milliseconds(800))
            }
        }
    }
}
