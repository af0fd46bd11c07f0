import ArgumentParser

/// `login-demo`: types into a login form in one process, and shows it in another.
@main
struct LoginDemo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "login-demo",
        abstract: "A login form that two processes share; login-daemon holds it.",
        discussion: """
            Run `login-demo show` in one terminal and `login-demo type` in another.
            """,
        subcommands: [TypeCommand.self, ShowCommand.self])
}
