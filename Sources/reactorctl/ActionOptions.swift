import ArgumentParser
import ReactorClient
import ReactorWire

/// The options of the commands that send actions: a condition, and the moment of the outcome.
struct ActionOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Apply only if the reactor has not changed since this revision; a batch with --atomic, \
            if no reactor has.
            """,
            valueName: "e:n"))
    var ifRevision: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            When to print an outcome: once the action is applied; once it is on the disk, even if \
            the daemon's durability is relaxed; or once its effects have ended.
            """,
            valueName: "what"))
    var wait = DispatchWait.applied

    mutating func validate() throws {
        guard let ifRevision, expected == nil else { return }
        throw ValidationError(
            "--if-revision \(ifRevision): expected the form that `get --revision` prints, such as "
                + "9f86d081884c7d65:42")
    }

    /// The value of --if-revision.
    var expected: Revision? { ifRevision.flatMap { Revision($0) } }

    /// The level of acknowledgement that the commands demand; nil for the daemon's own.
    var ack: AckLevel? { wait == .durable ? .durable : nil }

    /// Whether an outcome comes when the action's effects have ended.
    var awaitsEffects: Bool { wait == .done }
}

/// The moment at which `reactorctl` prints an action's outcome.
enum DispatchWait: String, CaseIterable, ExpressibleByArgument {
    /// As soon as the action is applied or rejected.
    case applied
    /// As soon as the action is durable.
    case durable
    /// When the action's effects have ended.
    case done
}
