/// Why a command could not do what it was asked for, in a line for people.
struct Complaint: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
