import ReactorWire

/// Passes the shell the questions that it answers: those about the past, and those about the
/// daemon.
///
/// *Place*: ``AnswerService`` decodes a question, and sends the shell's answer.
struct Inquiries {
    private let source: AnswerSource
    private let orders: ShellOrders
    private let chronicle: Chronicle
    private let delivery: Delivery

    init(
        _ source: AnswerSource, _ orders: ShellOrders, _ chronicle: Chronicle, _ delivery: Delivery
    ) {
        self.source = source
        self.orders = orders
        self.chronicle = chronicle
        self.delivery = delivery
    }

    /// Has the archive answer a question about the past.
    func askPast(_ ask: Question, _ header: FrameHeader, of connection: Connection) {
        guard chronicle.keepsHistory else {
            let text = "the daemon keeps its state in memory: configure `data:` to keep the past"
            return delivery.refuse(header, Refusal(.history, text), of: connection)
        }
        self.ask(ask, header, of: connection)
    }

    /// Refuses waiting requests.
    func refuse(_ askers: [Asker], _ refusal: Refusal) {
        for asker in askers {
            asker.connection.requests.endQuestion(asker.number)
            delivery.refuse(
                FrameHeader(kind: .ask, number: asker.number), refusal, of: asker.connection)
        }
    }

    /// Tells a client that its rights have changed since the question.
    static var changed: Refusal {
        Refusal(.busy, "the access rules have changed: ask again")
    }

    /// The answer, or a refusal if the rights have changed since the question and no longer allow a
    /// question about the past: a client that waits for the log would get a page more.
    func permitted(
        _ result: Result<[UInt8], Refusal>, of inquiry: Inquiry, for access: AccessClass?
    ) -> Result<[UInt8], Refusal> {
        guard inquiry.ask.isAboutPast else { return result }
        do throws(Refusal) {
            guard try source.check(inquiry.ask, for: access) == inquiry.seenCount else {
                return .failure(Self.changed)
            }
            return result
        } catch {
            return .failure(error)
        }
    }

    /// Has the shell answer a question.
    func ask(_ ask: Question, _ header: FrameHeader, of connection: Connection) {
        guard connection.requests.inquiryCount < Inquiry.perConnectionMax else {
            let text =
                "\(Inquiry.perConnectionMax) questions about the past or the daemon wait for "
                + "their answers"
            return delivery.refuse(header, Refusal(.quota, text), of: connection)
        }
        let seenCount: Int?
        do throws(Refusal) {
            seenCount = try source.check(ask, for: connection.access)
        } catch {
            return delivery.refuse(header, error, of: connection)
        }
        connection.requests.inquire()
        orders.append(
            .inquire(
                Inquiry(
                    connection: connection.id, peer: connection.peer, number: header.number,
                    ask: ask, askedAt: orders.now,
                    isAdministrator: connection.access?.isAdministrator ?? false,
                    seenCount: seenCount)))
    }
}
