import LoginExample
import ReactorDaemonCommand

/// `login-daemon`: serves a login form that any number of processes share.
@main
struct LoginDaemon: DaemonCommand {
    static let abstract = "Holds a login form that processes share."
    static var reactors: DaemonReactors { .root(Login()) }
}
