import ReactorDaemonCommand

/// `reactord`: serves the tree of ready-made reactors in a configuration file.
@main
struct Reactord: DaemonCommand {
    static let abstract = "Owns a tree of reactors and serves it over a Unix-domain socket."
    static var reactors: DaemonReactors { .configured(.stock) }
}
