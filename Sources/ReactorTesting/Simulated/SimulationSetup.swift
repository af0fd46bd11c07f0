import ReactorClient
import ReactorCore
import ReactorServer

/// What an author has set on a ``Simulation``: the reactor, the disturbances, the conditions and
/// the traffic.
///
/// *Place*: ``SimulationRun`` reads it; the runs that shorten a failure have the same one.
struct SimulationSetup<Root: Reactor> {
    let seed: UInt64
    let clientCount: Int
    let limits: ServerLimits
    let makeRoot: () -> Root
    /// The root of the next version; nil if the daemon is not upgraded.
    var makeNext: (() -> any Reactor)?
    /// Maximum number of restarts without the history.
    var restartsMax = 1
    /// Maximum number of restarts with the history.
    var recoveriesMax = 0
    /// Maximum number of clients that die.
    var deathsMax = 0
    /// Maximum time between two actions, in nanoseconds.
    var pauseMax: UInt64 = 2_000_000
    /// Maximum time until a batch is appended, in nanoseconds.
    var journalDelayMax: UInt64 = 3_000_000
    var rootConditions: [Condition<Root.State>] = []
    var treeConditions: [Condition<SimulatedTree>] = []
    var clientConditions: [Condition<SimulatedView>] = []
    var follows: [Follow] = []
    /// Patterns of collections that every client follows.
    var collections: [String] = []
    var traffic: [Traffic] = []
    var demands: [Demand] = []

    /// Whether the daemon keeps a history.
    var keepsHistory: Bool { recoveriesMax > 0 || makeNext != nil }

    /// Creates a setup without conditions, whose traffic is that of the root.
    init(
        seed: UInt64, clientCount: Int, limits: ServerLimits, makeRoot: @escaping () -> Root
    ) {
        self.seed = seed
        self.clientCount = clientCount
        self.limits = limits
        self.makeRoot = makeRoot
        follow(makeRoot, at: "/")
    }

    /// Makes every client mirror the reactor at `path`.
    mutating func follow<C: Reactor>(_ make: @escaping () -> C, at path: String) {
        follows.append(
            Follow(path: path) { machine, then in
                machine.mirror(make(), at: path) { result in
                    guard let mirror = try? result.get() else { return }
                    then(
                        SimulatedMember.Reader(
                            bytes: { mirror.state.wireBytes() }, state: { mirror.state }))
                }
            })
    }

    /// A claim, and the function that checks it.
    struct Condition<Subject> {
        var claim: String
        var holds: (Subject) -> Bool
    }

    /// A node that every client mirrors.
    struct Follow {
        var path: String
        /// Starts mirroring; the callback receives the mirror's reader.
        var begin: (ClientMachine, @escaping (SimulatedMember.Reader) -> Void) -> Void
    }

    /// Random actions for reactors below the root.
    struct Traffic {
        /// The path of the node, the pattern of the collections, or the name of the batches.
        var path: String
        var percent: Int
        /// The type of the recipients; nil of batches.
        var type: ObjectIdentifier?
        /// Draws the recipients and their actions; nil without an action.
        var draw: (inout SeededRandom, SimulatedView) -> Draw?
    }

    /// A drawn action.
    enum Draw {
        /// One action, or those of a batch.
        case parts([SimulatedAction.Part])
        /// The client knows no child to which it could send.
        case noChild

        /// An action for the reactor at a path.
        static func action(_ action: some WireCodable, to path: String) -> Draw {
            .parts([SimulatedAction.Part(action, to: path)])
        }
    }

    /// The least number of actions that a run must send and apply.
    struct Demand {
        var path: String
        var sentMin: Int
        var appliedMin: Int
    }
}
