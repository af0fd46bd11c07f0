/// The rules for user names and passwords.
enum LoginRules {
    /// Says why `user` is not a valid user name; nil if it is.
    static func message(user: String) -> String? {
        user.count < 7 ? "the user name needs at least 7 characters" : nil
    }

    /// Says why `password` is not a valid password; nil if it is.
    static func message(password: String) -> String? {
        if password.count <= 7 { return "the password needs more than 7 characters" }
        if !password.contains(where: \.isUppercase) { return "the password needs a capital" }
        if !password.contains(where: \.isNumber) { return "the password needs a digit" }
        if !password.contains(where: \.isSpecial) {
            return "the password needs a special character"
        }
        return nil
    }
}

extension Character {
    fileprivate var isSpecial: Bool { !isLetter && !isNumber && !isWhitespace }
}
