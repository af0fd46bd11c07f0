/// Limits of the reactor model.
public enum CoreLimits {
    /// Maximum mutations of one reactor in one transaction.
    public static let mutationsMax = 4_096
    /// Maximum size of the encoded change of one node in one transaction, in bytes.
    public static let deltaBytesMax = 4 << 20
    /// Maximum depth of a chain of followers: an action, an action it dispatched, and so on.
    public static let followerDepthMax = 64
    /// Maximum followers that one action causes.
    public static let followersMax = 1_024
    /// Maximum nesting of reactions: a parent reacts by mutating the child that it reacts to.
    public static let reactionDepthMax = 64
    /// Maximum reactions in one transaction. The tree drops further ones and logs it.
    public static let reactionsMax = 2 * mutationsMax
    /// Maximum nesting of sent actions: a reactor that receives one sends another.
    public static let sendDepthMax = 64
    /// Maximum sent actions in one transaction, which is refused beyond them.
    public static let sendsMax = 16 * mutationsMax
    /// Default maximum of effects in one tree, including cancelled effects whose work has not
    /// ended. An action that asks for more is rejected as `BUSY`; an effect of a decision that
    /// cannot be refused waits until others have ended.
    public static let effectsMax = 65_536
    /// Maximum effects of one tree that wait for others to end. At the maximum, an action that
    /// creates a child is rejected as `BUSY`. Of decisions that cannot be refused, the tree keeps
    /// the effects of a child's start; it drops others and logs it.
    public static let effectsWaitingMax = 1 << 20
    /// Maximum planned actions and durable effects of one tree.
    public static let tasksMax = 65_536
    /// Maximum actions that a timer catches up on at once.
    public static let catchUpMax = 1_024
    /// Maximum values that wait in front of one stream of a ``Transform``.
    public static let streamedValuesMax = 1_024
    /// Maximum unanswered actions that a mirror previews. Further actions are shown when they are
    /// answered.
    public static let previewsMax = 256
    /// Maximum unapplied values of one source, as ``LiveReactor/connect(_:)`` and
    /// ``Transform/merging(_:)`` read it; at the limit, the tree pauses reading.
    public static let sourcedValuesMax = 64
    /// Maximum length of the cancel id of a client's action, in bytes; each running effect stores
    /// one.
    public static let cancelNameBytesMax = 256
    /// Maximum children of one collection that one connection leases.
    public static let leasesPerConnectionMax = 1_024
    /// Maximum children of one leased collection without a lease that defines their lifetime, which
    /// stay when no connection holds them any more. A lease that would make another is rejected as
    /// `QUOTA`.
    public static let keptChildrenMax = 4_096
    /// Maximum sagas, forks and handlers of one tree, and of one client. An action for which a
    /// handler would have to start another is rejected as `BUSY`; a saga that forks another fails.
    /// A reactor's own saga waits until others have ended.
    public static let sagasMax = 1 << 17
    /// Maximum nesting of sagas that sagas started. A deeper one fails, and with it the sagas that
    /// started it.
    public static let sagaDepthMax = 256
    /// Minimum number of actions and mutations of its reactor that are kept for a saga between two
    /// takes. After more, the saga has missed some, and its next take throws.
    public static let sagaLogMax = 1_024
    /// Maximum length of a child's key in bytes; it stays in memory as long as the child.
    public static let childKeyBytesMax = 1_024
    /// Maximum nesting of nodes.
    public static let nodeDepthMax = WireLimits.pathComponentsMax
    /// Maximum nodes in one tree.
    public static let nodesMax = 1 << 20
}
