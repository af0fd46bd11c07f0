import ArgumentParser
public import ReactorCore
import ReactorDaemon

/// A daemon as a program, with every option of `reactord`.
///
///     @main
///     struct TrackerDaemon: DaemonCommand {
///         static var reactors: DaemonReactors { .root(Tracker()) }
///     }
///
/// To add your own kinds to the ready-made ones, register them; the configuration's `reactors:`
/// then select them:
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
/// Use `whenOpen` to add observers and further inputs once the tree is open:
///
///     static func whenOpen(_ tree: Tree) throws {
///         let tracker = try tree.reactor(Tracker.self)
///         tracker.addMiddleware(log).keep()
///         tracker.connect(orders).keep()
///     }
public protocol DaemonCommand: SendableMetatype {
    /// The reactors to serve. Read at the start, and on another thread for queries about the
    /// past: return new reactors each time.
    static var reactors: DaemonReactors { get }

    /// Called once the reactors have started, on the tree's isolation and before clients are
    /// served; an error ends the daemon.
    ///
    /// Other tasks reach the reactors through a ``ReactorCore/LiveReactor/handle``.
    static func whenOpen(_ tree: Tree) throws

    /// The program's name: in its help, its log and its answer to HELLO, and in the default paths
    /// of its socket and its data, by which clients find it.
    ///
    /// A name of at most 42 bytes without a slash; another needs configured paths.
    static var name: String { get }

    /// Whether the daemon keeps its data when it is started without a configuration file: in the
    /// default data directory of its ``name``, with the default settings.
    ///
    /// A configuration file decides by its section `data:` instead.
    static var keepsData: Bool { get }

    /// The program's purpose, in one sentence.
    static var abstract: String { get }

    /// The text that `--version` prints.
    static var version: String { get }
}

extension DaemonCommand {
    /// Does nothing.
    public static func whenOpen(_ tree: Tree) throws {}

    /// The name of its executable.
    public static var name: String {
        CommandLine.arguments.first?.split(separator: "/").last.map(String.init) ?? ""
    }

    /// Returns false: without a configuration file, all state is in memory.
    public static var keepsData: Bool { false }

    public static var abstract: String { "Serves reactors over a Unix-domain socket." }

    /// The version of the library.
    public static var version: String { Daemon.version }
}
