public import ReactorClient
import ReactorCore
import ReactorWire

/// The real client machine in a simulated world.
///
/// *Owner*: the world, which must be held for as long as it is used.
public final class SimulatedClient {
    /// The machine itself; ask it things inside ``act(_:)``.
    public let machine: ClientMachine
    /// Called after everything that may have changed a mirror.
    public var onChange: (() -> Void)?
    private unowned let world: SimulatedWorld
    private(set) var link: SimulatedLink?
    /// Whether its program died.
    public private(set) var isGone = false
    private var timer: UInt64 = 0

    init(_ world: SimulatedWorld, _ options: ClientOptions) {
        self.world = world
        machine = ClientMachine(options) { [unowned world] in world.random.next() }
    }

    /// Asks something of the machine, and sends what comes of it.
    public func act(_ body: (ClientMachine) -> Void) {
        body(machine)
        pump()
    }

    /// Its program dies: the daemon learns that the connection broke, and nothing more.
    public func vanish() {
        isGone = true
        timer += 1
        if let link { world.reset(link, nil) }
        link = nil
    }

    /// Its program shuts its writing side down, and dies `nanoseconds` later: until then it may
    /// still be waiting for answers, and owns what it owned.
    public func fade(for nanoseconds: UInt64) {
        isGone = true
        timer += 1
        guard let fading = link else { return }
        link = nil
        world.halfClose(fading)
        world.timeline.after(nanoseconds) { [unowned world] in world.reset(fading, nil) }
    }

    /// Writes and does what the machine wants.
    func pump() {
        repeat {
            if let out = machine.takeOutgoing(), let link, link.isOpen {
                link.up.append(contentsOf: out.bytes[out.range])
                world.scheduleUp(link)
            }
            for output in machine.takeOutputs() { carryOut(output) }
        } while machine.needsShell
        onChange?()
    }

    private func carryOut(_ output: ClientOutput) {
        switch output {
        case .connect: world.timeline.after(world.delay()) { [unowned self] in connect() }
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
        if world.isStormy, world.random.chance(world.weather.refusalPercent) {
            machine.connectFailed([])
        } else {
            link = world.open(self)
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
