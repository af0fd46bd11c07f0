/// The forms in which a history has values at one point of its replay.
///
/// *Place*: inside ``TreeRecovery``; the schemas of a form are in ``KeptSchemas``.
struct KeptForms {
    /// By the numbers of nodes, where the form is not that of today's types.
    private var older: [UInt32: ReactorForm] = [:]
    /// The schemas under which pending tasks were recorded, by their ids.
    private var taskSchemas: [UInt64: KeptSchema] = [:]
    /// Number of them from which on those of tasks that are done are forgotten.
    private var taskSchemasMax = 1_024

    /// Records the form of a node's later values.
    mutating func set(_ node: AnyNode, _ form: ReactorForm) {
        older[node.number] = form == node.form ? nil : form
    }

    /// Forgets a removed node.
    mutating func forget(_ node: AnyNode) { older[node.number] = nil }

    /// Whether the node's values are in another form than today's.
    func isOlder(_ node: AnyNode) -> Bool { !older.isEmpty && older[node.number] != nil }

    /// The form of a node's values.
    func form(of node: AnyNode) -> ReactorForm { older[node.number] ?? node.form }

    /// Records the schemas under which the task `id` is recorded.
    mutating func setSchema(ofTask id: UInt64, _ schema: KeptSchema?, pending: () -> [TaskFact]) {
        taskSchemas[id] = schema
        // Tasks that are done are not removed one by one.
        guard taskSchemas.count >= taskSchemasMax else { return }
        let ids = Set(pending().map(\.id))
        taskSchemas = taskSchemas.filter { ids.contains($0.key) }
        taskSchemasMax = max(taskSchemasMax, 2 * taskSchemas.count)
    }

    /// The schemas under which the task `id` was recorded.
    func schema(ofTask id: UInt64) -> KeptSchema? { taskSchemas[id] }
}
