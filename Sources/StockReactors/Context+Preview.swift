import ReactorCore

extension Context {
    /// Refuses an action that a client only tries on its mirror, where nobody knows the caller.
    func refusePreview() throws(Rejection) {
        guard isPreview else { return }
        throw Rejection(
            "preview", "\(path) needs to know its caller, which the daemon alone does: wait for it")
    }
}
