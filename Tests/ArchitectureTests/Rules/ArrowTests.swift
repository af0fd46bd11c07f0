import Testing

/// Compares the manifest's dependencies with the plan's.
struct ArrowTests {
    /// Differences between a manifest's dependencies and the plan's.
    static func findings(in manifest: Manifest) -> [Finding] {
        var findings: [Finding] = []
        func report(_ line: Int, _ what: String) {
            findings.append(
                Finding(
                    path: "Package.swift", line: line + 1, what: what,
                    remedy: "draw the arrow in both places, Package.swift and the plan, or neither")
            )
        }
        let rooms = manifest.targets.filter { $0.kind != "testTarget" }
        for target in rooms {
            guard let room = Plan.room(target.name) else {
                report(target.line, "\(target.name) is no room of the plan")
                continue
            }
            for name in target.rooms.union(target.products).sorted()
            where !room.rooms.union(room.products).contains(name) {
                report(target.line, "\(target.name) knows \(name), which the plan does not allow")
            }
            for name in room.rooms.union(room.products).sorted()
            where !target.rooms.union(target.products).contains(name) {
                report(target.line, "\(target.name) does not know \(name), which the plan says")
            }
        }
        for room in Plan.rooms where !rooms.contains(where: { $0.name == room.name }) {
            report(0, "the plan's room \(room.name) is missing")
        }
        return findings
    }

    /// Targets without the common settings, and test targets without a target to test.
    static func strayTargets(in manifest: Manifest) -> [Finding] {
        manifest.targets.compactMap { target in
            let remedy: String
            let what: String
            if target.kind != "systemLibrary", !target.isStrict,
                !Plan.guests.contains(target.name)
            {
                what = "\(target.name) is not compiled with the strict settings"
                remedy = "add swiftSettings: strict"
            } else if target.kind == "testTarget", !Plan.houseTests.contains(target.name),
                Plan.room(String(target.name.dropLast("Tests".count))) == nil
            {
                what = "\(target.name) mirrors no room"
                remedy = "name it after the room it tests"
            } else {
                return nil
            }
            return Finding(path: "Package.swift", line: target.line + 1, what: what, remedy: remedy)
        }
    }

    @Test("the manifest's dependencies equal the plan's")
    func arrows() {
        let manifest = Manifest(Repository.text(at: "Package.swift"))
        #expect(manifest.targets.count >= Plan.rooms.count)
        expectNone(Self.findings(in: manifest))
        expectNone(Self.strayTargets(in: manifest))
    }

    @Test("every dependency of the plan leads to a lower level")
    func floors() {
        for room in Plan.rooms {
            for name in room.rooms {
                let below = Plan.room(name)
                #expect(below != nil, "\(room.name) knows \(name), which is no room")
                #expect(below.map { $0.floor < room.floor } ?? true, "\(room.name) -> \(name)")
            }
        }
    }

    @Test("a sideways dependency, an unknown target and a target without strict settings are found")
    func planted() {
        let manifest = Manifest(
            """
            let collections = Target.Dependency.product(name: "HashTreeCollections", package: "x")
            let package = Package(targets: [
                // a comment with a bracket )
                .target(
                    name: "StockReactors",
                    dependencies: [
                        "ReactorCore", .target(name: "ReactorServer", condition: c), collections,
                    ], swiftSettings: strict),
                .target(name: "Attic", dependencies: [.product(name: "Ladder", package: "y")]),
            ])
            """)
        let whats = Self.findings(in: manifest).map(\.what)
        #expect(whats.contains("StockReactors knows ReactorServer, which the plan does not allow"))
        #expect(whats.contains("Attic is no room of the plan"))
        #expect(whats.contains("the plan's room ReactorWire is missing"))
        #expect(!whats.contains { $0.contains("Collections") })
        #expect(Self.findings(in: manifest).first?.line == 4)
        #expect(Self.strayTargets(in: manifest).map(\.line) == [9])
    }
}
