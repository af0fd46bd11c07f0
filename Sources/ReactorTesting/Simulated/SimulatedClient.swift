package import ReactorClient
import ReactorCore
package import ReactorServer
import ReactorWire

/// A real client machine in a simulated world.
///
/// *Owner*: the world, which must outlive the client.
package final class SimulatedClient {
    /// The client machine; call it inside ``act(_:)``.
    package let machine: ClientMachine
    /// Called after every step that may have changed a mirror.
    package var onChange: (() -> Void)?
    private unowned let world: SimulatedWorld
    private let uid: UInt32
    /// The random choices of its links; nil for those of the world.
    private let chance: SimulatedChance?
    private(set) var link: SimulatedLink?
    /// Whether the client's program has died.
    package private(set) var isGone = false
    private var timer: UInt64 = 0

    init(
        _ world: SimulatedWorld, _ options: ClientOptions, uid: UInt32, _ chance: SimulatedChance?
    ) {
        self.world = world
        self.uid = uid
        self.chance = chance
        machine = ClientMachine(options) { [unowned world] in world.random.next() }
    }

    /// The number of its open connection.
    package var connection: ConnectionID? { link?.id }

    /// Runs `body` with the machine, and sends the resulting output.
    package func act(_ body: (ClientMachine) -> Void) {
        body(machine)
        pump()
    }

    /// Simulates the death of the client's program: the server only learns that the connection
    /// broke.
    package func vanish() {
        isGone = true
        timer += 1
        if let link { world.reset(link, nil) }
        link = nil
    }

    /// Simulates a program that shuts down its writing side and dies `nanoseconds` later. Until
    /// then it may still wait for answers, and keeps the objects it owns.
    package func fade(for nanoseconds: UInt64) {
        isGone = true
        timer += 1
        guard let fading = link else { return }
        link = nil
        world.halfClose(fading)
        world.timeline.after(nanoseconds) { [unowned world] in world.reset(fading, nil) }
    }

    /// Sends the machine's bytes and executes its outputs.
    func pump() {
        repeat {
            if let out = machine.takeOutgoing(), let link, link.isOpen {
                link.send(out.bytes[out.range])
                world.scheduleUp(link)
            }
            for output in machine.takeOutputs() { carryOut(output) }
        } while machine.needsShell
        onChange?()
    }

    private func carryOut(_ output: ClientOutput) {
        switch output {
        case .connect: world.timeline.after(world.chance.delay()) { [unowned self] in connect() }
        case .close:
            let old = link
            link = nil
            if let old { world.finish(old) }
        case .setTimer(let nanoseconds):
            timer += 1
            let mine = timer
            world.timeline.after(nanoseconds) { [unowned self] in
                guard mine == timer else { return }
                machine.timerFired()
                pump()
            }
        case .stopTimer: timer += 1
        }
    }

    private func connect() {
        if isGone { return }
        if world.chance.isStormy, world.random.chance(world.chance.weather.refusalPercent) {
            machine.connectFailed([])
        } else {
            link = world.open(self, uid: uid, chance)
            machine.connected()
        }
        pump()
    }

    func receive(_ bytes: [UInt8], from link: SimulatedLink) {
        guard self.link === link else { return }
        machine.receive(bytes.span)
        pump()
    }

    func lose(_ link: SimulatedLink) {
        guard self.link === link else { return }
        self.link = nil
        machine.disconnected()
        pump()
    }
}

/// The open links of a simulated world, with their clients.
///
/// *Invariants*: every link has a number that was given once, at most the last one. The 8 upper
/// bits of a number are those of the daemon in its cluster.
struct SimulatedLinks {
    typealias Entry = (link: SimulatedLink, client: SimulatedClient?)

    private var entries: [ConnectionID: Entry] = [:]
    private let node: UInt8
    private var lastNumber: UInt64

    init(of node: UInt8 = 0) {
        self.node = node
        lastNumber = UInt64(node) << 56
    }

    /// The link with this number, if it is open.
    subscript(id: ConnectionID) -> Entry? { entries[id] }

    /// The open links, in the order of their numbers.
    var sorted: [Entry] { entries.sorted { $0.key.rawValue < $1.key.rawValue }.map(\.value) }

    /// Opens the link of a client; nil for bytes without one.
    mutating func open(for client: SimulatedClient?, _ chance: SimulatedChance) -> SimulatedLink {
        lastNumber += 1
        let link = SimulatedLink(ConnectionID(lastNumber), chance)
        assert(entries[link.id] == nil, "link \(lastNumber) is open")
        entries[link.id] = (link, client)
        return link
    }

    /// Forgets a link that was closed.
    mutating func remove(_ link: SimulatedLink) { entries[link.id] = nil }

    /// Numbers later links after `number` and, if `keepsNumbers` is true, after the links so far.
    mutating func renumber(behind number: UInt64, keepsNumbers: Bool) {
        guard number >> 56 == node else { return }
        lastNumber = max(keepsNumbers ? lastNumber : 0, number)
    }
}
