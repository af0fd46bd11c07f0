import GuestbookCore
import ReactorDaemonCommand

@main
struct GuestbookDaemon: DaemonCommand {
    static let abstract = "Keeps a guestbook."
    static var reactors: DaemonReactors { .root(Guestbook()) }
}
