/// The means to take back the transaction in progress.
///
/// A reversible transaction records a step for each change. An attempt, inside or outside of one,
/// claims capacity; a refusal withdraws the claims. *Place*: in a ``Turn``. *Owner*: the tree's
/// isolation.
final class UndoLog {
    /// Whether the transaction in progress is reversible.
    private(set) var isRecording = false
    /// Functions that undo the changes so far.
    private var steps: [() -> Void] = []
    /// Functions that withdraw the claims of the attempts in progress.
    private var claims: [() -> Void] = []
    /// Number of nested attempts; claims can be withdrawn only inside one.
    private var attemptDepth = 0
    /// Why the transaction has to be rolled back, though its action was decided.
    private(set) var refusal: Rejection?
    /// Measures what the transaction changes, while the tree must not grow; else `nil`.
    private var scales: Scales?

    // MARK: Steps

    /// Begins a reversible transaction.
    func begin() {
        isRecording = true
        assert(invariants())
    }

    /// Ends the reversible transaction, and drops its steps.
    func end() {
        steps.removeAll()
        isRecording = false
        assert(invariants())
    }

    /// Adds a step that undoes the last change.
    func add(_ step: @escaping () -> Void) {
        assert(isRecording, "only a reversible transaction records steps")
        steps.append(step)
    }

    /// Number of steps.
    var stepCount: Int { steps.count }

    /// Removes the step that undoes the last change, unless only the first `count` steps are left.
    func popStep(after count: Int = 0) -> (() -> Void)? {
        steps.count > count ? steps.popLast() : nil
    }

    // MARK: Claims

    /// Begins an attempt. Returns the number of earlier claims.
    func beginAttempt() -> Int {
        attemptDepth += 1
        return claims.count
    }

    /// Keeps the claims of an attempt, which was applied.
    func endAttempt(after count: Int) {
        attemptDepth -= 1
        claims.removeSubrange(count...)
        assert(invariants())
    }

    /// Adds a function that withdraws a claim if the transaction is refused.
    func claim(_ withdraw: @escaping () -> Void) {
        if isRecording {
            steps.append(withdraw)
        } else if attemptDepth > 0 {
            claims.append(withdraw)
        }
    }

    /// Removes the last claim of an attempt with `count` earlier claims.
    func popClaim(after count: Int) -> (() -> Void)? {
        claims.count > count ? claims.removeLast() : nil
    }

    // MARK: Refusals

    /// Has the transaction rolled back.
    func refuse(_ rejection: Rejection) { refusal = rejection }

    /// Removes the reason for a roll-back.
    func takeRefusal() -> Rejection? {
        guard let taken = refusal else { return nil }
        refusal = nil
        return taken
    }

    // MARK: Weights

    func beginWeighing() { scales = Scales() }

    /// The growth of the tree so far, and the number of encoded bytes.
    func weighGrowth() -> (growth: Int, workByteCount: Int) {
        let growth = scales?.growth() ?? 0
        return (growth, scales?.workByteCount ?? 0)
    }

    func endWeighing() { scales = nil }

    /// Measures a node before its change.
    func weigh(_ node: any MeasuredState) { scales?.weigh(node) }

    /// Measures a node and all nodes below it before their removal.
    func weighBranch(_ node: any MeasuredState) { scales?.weighBranch(node) }

    /// Measures a new node.
    func weighNew(_ node: any MeasuredState) { scales?.weighNew(node) }

    /// Steps exist only in a reversible transaction, claims only in an attempt.
    func invariants() -> Bool {
        (isRecording || steps.isEmpty) && (attemptDepth > 0 || claims.isEmpty)
            && attemptDepth >= 0
    }
}
