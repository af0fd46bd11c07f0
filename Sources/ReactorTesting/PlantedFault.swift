/// A fault put into a simulation on purpose, to see that it is noticed.
///
/// *Place*: tests of the simulation; a run that notices none of them proves nothing without one.
public enum PlantedFault: String, CaseIterable, Sendable {
    /// Updates that are dropped for a slow reader are not replaced by a snapshot.
    case lostUpdates
    /// An action that is sent again is applied again.
    case repeatedActions
    /// Outcomes overtake the updates that they belong to.
    case earlyOutcomes
    /// Marks overtake the last of the updates that they complete.
    case earlyMarks
    /// A server that starts without its past goes on with its epoch.
    case keptEpoch
    /// What a connection that has ended owned stays owned.
    case keptClaims
}
