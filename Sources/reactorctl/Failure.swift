import ReactorClient
import ReactorWire

/// Why a command ends without success: one line for the person, a code for the script.
struct Failure: Error {
    var code: Int32
    var text: String

    /// The action was rejected; its outcome has been printed.
    static let rejectedCode: Int32 = 1
    static let usageCode: Int32 = 2
    static let badActionCode: Int32 = 65
    static let noPathCode: Int32 = 66
    static let unreachableCode: Int32 = 69
    static let outputCode: Int32 = 74
    static let storageCode: Int32 = 74
    static let unknownCode: Int32 = 75
    static let forbiddenCode: Int32 = 77
    static let timeoutCode: Int32 = 124

    init(_ code: Int32, _ text: String) {
        self.code = code
        self.text = text
    }

    /// What a client's error means for a command about `path`.
    init(_ error: ClientError, path: String? = nil) {
        switch error {
        case .unreachable(let tried):
            let places = tried.map { "\($0.path) (\($0.reason))" }.joined(separator: ", ")
            self.init(
                Self.unreachableCode,
                "no daemon reachable, tried \(places.isEmpty ? "nothing" : places); "
                    + "start one with `reactord --config FILE`, or name its socket with --socket")
        case .refused(let refusal):
            let remedy = refusal.nearest.map { "; did you mean \($0)?" } ?? ""
            let code: Int32 =
                switch refusal.code {
                case .notFound, .path, .history: Self.noPathCode
                case .busy, .draining, .quota: Self.unknownCode
                case .forbidden: Self.forbiddenCode
                case .storage, .diskFull: Self.storageCode
                default: Self.usageCode
                }
            self.init(code, refusal.message + remedy)
        case .gone(let path):
            self.init(Self.noPathCode, "\(path) was removed")
        default:
            self.init(Self.unreachableCode, error.description)
        }
    }
}

extension Failure {
    /// Runs `body` and turns a client's error into a failure.
    static func explain<Result>(
        _ path: String? = nil, _ body: () async throws(ClientError) -> Result
    ) async throws(Failure) -> Result {
        do throws(ClientError) {
            return try await body()
        } catch {
            throw Failure(error, path: path)
        }
    }
}
