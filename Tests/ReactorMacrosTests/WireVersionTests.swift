import Testing

@Suite("The version of a type, and its steps")
struct WireVersionTests {
    private func source(_ version: String, _ migrations: String) -> String {
        """
        @WireCodable
        struct Place {
            \(version)
            \(migrations)
            var road: String
        }
        """
    }

    @Test("a complete chain, an inherited first step and steps in an extension are accepted")
    func accepted() {
        for (version, migrations) in [
            (
                "static var wireVersion: Int { 3 }",
                "static var wireMigrations: WireMigrations { .from(1) { _ in }.from(2) { _ in } }"
            ),
            (
                "static let wireVersion = 4",
                "static let wireMigrations = WireMigrations.formerly(\"A\").from(3) { _ in }"
            ),
            ("static var wireVersion: Int { 7 }", ""),
            (
                "static var wireVersion: Int { 7 }",
                "static var wireMigrations: WireMigrations { earlier.from(2) { _ in } }"
            ),
        ] {
            expectDiagnostics(source(version, migrations))
        }
    }

    @Test("a chain with a gap, a step beyond today's version, or without its end is refused")
    func chain() {
        let version = "static var wireVersion: Int { 3 }"
        func migrations(_ steps: String) -> String {
            "static var wireMigrations: WireMigrations { \(steps) }"
        }
        expectDiagnostics(
            source(version, migrations(".from(1) { _ in }.from(3) { _ in }")),
            told(
                4, 72,
                "the type has version 3, so no step begins at 3; raise wireVersion to 4, or remove "
                    + "the step"))
        expectDiagnostics(
            source(version, migrations(".from(2) { _ in }.from(1) { _ in }")),
            told(
                4, 72,
                "expected the step from version 3, got one from 1; the steps are in ascending order, "
                    + "one from each version"))
        expectDiagnostics(
            source(version, migrations(".from(1) { _ in }")),
            told(
                3, 35, "the type has version 3, and no step from version 2; add .from(2)"))
        expectDiagnostics(
            source("static var wireVersion: Int { 0 }", ""), told(3, 35, "the first version is 1"))
    }

    @Test("steps without a version, a version of another type, or of a raw value are refused")
    func form() {
        expectDiagnostics(
            source("", "static var wireMigrations: WireMigrations { .from(1) { _ in } }"),
            told(
                4, 5,
                "wireMigrations leads to a version; declare static var wireVersion: Int { 2 } beside "
                    + "it, with the number of today"))
        expectFix(
            source("static var wireVersion: UInt32 { 2 }", ""),
            told(
                3, 29, "wireVersion has the type Int; one of another type is not used",
                fix: "write 'Int'"),
            fixed: source("static var wireVersion: Int { 2 }", ""))
        expectFix(
            source("var wireVersion: Int { 2 }", ""),
            told(
                3, 5, "wireVersion belongs to the type; declare it static",
                fix: "insert 'static'"),
            fixed: source("static var wireVersion: Int { 2 }", ""))
        expectDiagnostics(
            """
            @WireCodable
            enum Mood: String {
                static var wireVersion: Int { 2 }
                case calm
            }
            """,
            told(
                3, 5,
                "a type with a raw value is stored as that value, which has no version; convert it "
                    + "in a step of the type that contains it"))
    }
}
