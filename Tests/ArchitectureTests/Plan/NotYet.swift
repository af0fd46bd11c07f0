/// A measured value that is still above its limit, as a ceiling that must only sink.
///
/// The tests fail if a value is above its entry, and if it is below its entry, so that the table
/// stays exact. `REACTORD_SURVEY=1 swift test --filter SurveyTests` prints the entries as they are.
struct NotYet: Sendable {
    let measure: Measure
    let room: String
    /// The type, the function, the file or the folders; empty for the target itself.
    let subject: String
    let value: Int

    init(_ measure: Measure, _ room: String, _ subject: String, _ value: Int) {
        self.measure = measure
        self.room = room
        self.subject = subject
        self.value = value
    }

    var key: String { Self.key(measure, room, subject) }

    /// The key of an entry, which a measured figure of the same subject has too.
    static func key(_ measure: Measure, _ room: String, _ subject: String) -> String {
        [measure.rawValue, room, subject].filter { !$0.isEmpty }.joined(separator: " ")
    }

    static let table: [NotYet] = [
    ]
}
