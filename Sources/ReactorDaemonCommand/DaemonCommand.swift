import ArgumentParser
import Foundation
public import ReactorCore
import ReactorDaemon

/// A daemon as a program, which takes every option of `reactord`.
///
///     @main
///     struct TrackerDaemon: DaemonCommand {
///         static var reactors: DaemonReactors { .root(Tracker()) }
///     }
///
/// With kinds of one's own beside the ready-made ones, the configuration's `reactors:` say what
/// stands where:
///
///     @main
///     struct TeamDaemon: DaemonCommand {
///         static var reactors: DaemonReactors {
///             var catalog = ReactorCatalog.stock
///             catalog.register("tracker") { _ in Tracker() }
///             return .configured(catalog)
///         }
///     }
///
/// Who looks on, and what comes in besides clients' actions, is said once the tree is open:
///
///     static func whenOpen(_ tree: Tree) throws {
///         let tracker = try tree.reactor(Tracker.self)
///         tracker.addMiddleware(log).keep()
///         tracker.connect(orders).keep()
///     }
public protocol DaemonCommand: SendableMetatype {
    /// Which reactors it serves. Read at start, and on another thread whenever somebody asks how the
    /// past was: makes them anew each time.
    static var reactors: DaemonReactors { get }

    /// Called once the reactors have begun, on the tree's isolation and before anybody is served; what
    /// it throws ends the daemon.
    ///
    /// From here on, what other tasks are to do goes through a ``ReactorCore/LiveReactor/handle``.
    static func whenOpen(_ tree: Tree) throws

    /// What it is called in its help and its log, and what its clients are told.
    static var name: String { get }

    /// What it is for, in a sentence.
    static var abstract: String { get }

    /// What `--version` prints.
    static var version: String { get }
}

extension DaemonCommand {
    /// Leaves the tree as it is.
    public static func whenOpen(_ tree: Tree) throws {}

    /// The name of its executable.
    public static var name: String { ProcessInfo.processInfo.processName }

    public static var abstract: String { "Serves reactors over a Unix-domain socket." }

    /// That of the library.
    public static var version: String { Daemon.version }

    /// Reads the command line, and serves until a signal ends it.
    public static func main() { DaemonArguments<Self>.main() }
}
