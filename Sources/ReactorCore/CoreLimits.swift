/// Ceilings of the reactor model itself.
public enum CoreLimits {
    /// Most mutations of one reactor in one transaction.
    public static let mutationsMax = 4_096
    /// Largest encoded change of one node in one transaction, in bytes.
    public static let deltaBytesMax = 4 << 20
    /// Deepest chain of followers: an action, what it dispatched, what that dispatched.
    public static let followerDepthMax = 64
    /// Most followers that one action may cause.
    public static let followersMax = 1_024
    /// Deepest nesting of reactions: a parent's mutation of the child that it reacts to.
    public static let reactionDepthMax = 64
    /// Most reactions in one transaction; those beyond are left out, and complained of.
    public static let reactionsMax = 2 * mutationsMax
    /// Most effects in one tree where nothing else is said, those included that were cancelled and
    /// whose work has not ended. An action that asks for more is rejected as `BUSY`; an effect of a
    /// decision that cannot be refused waits until others have ended.
    public static let effectsMax = 65_536
    /// Most effects of one tree that wait for others to end; those beyond are left out, and the log
    /// says so.
    public static let effectsWaitingMax = 1 << 20
    /// Most planned actions and durable effects of one tree.
    public static let tasksMax = 65_536
    /// Most actions that a timer catches up on at once.
    public static let catchUpMax = 1_024
    /// Most values that wait in front of one stream of a ``Transform``.
    public static let streamedValuesMax = 1_024
    /// Most actions that a mirror shows before they are answered; further ones are shown when they
    /// are.
    public static let previewsMax = 256
    /// Most values of one source, as ``LiveReactor/connect(_:)`` and ``Transform/merging(_:)`` read it,
    /// that are not applied yet; while there are as many, the source is not read.
    public static let sourcedValuesMax = 64
    /// Longest cancel id of a client's action, in bytes: one is kept with each running effect.
    public static let cancelNameBytesMax = 256
    /// Most children of one collection that one connection leases.
    public static let leasesPerConnectionMax = 1_024
    /// Most children of one leased collection whose lives no lease defines, and which stay when nobody
    /// holds them any more; a lease that would make another is rejected as `QUOTA`.
    public static let keptChildrenMax = 4_096
    /// Most sagas, forks and handlers of one tree, or of one client; an action for which a handler
    /// would have to begin another is rejected as `BUSY`, and a saga that forks another fails.
    public static let sagasMax = 1 << 17
    /// Deepest nesting of sagas that sagas began; one below fails, and with it those above.
    public static let sagaDepthMax = 256
    /// How many actions and mutations of its reactor are kept, at least, for a saga that is between
    /// two of its waits; one that takes the next only after more has missed some, and is told so.
    public static let sagaLogMax = 1_024
    /// Longest key of a child, in bytes: it stays in memory for as long as the child.
    public static let childKeyBytesMax = 1_024
    /// Deepest nesting of nodes.
    public static let nodeDepthMax = WireLimits.pathComponentsMax
    /// Most nodes in one tree.
    public static let nodesMax = 1 << 20
}
