import ReactorDaemon
import Testing

struct ConfigLocationTests {
    @Test("a location is written in the form that editors recognise, as far as it is known")
    func description() {
        #expect(ConfigLocation(file: "r.yaml", line: 3, column: 9).description == "r.yaml:3:9")
        #expect(ConfigLocation(file: "r.yaml", line: 3).description == "r.yaml:3")
        #expect(ConfigLocation(file: "r.yaml").description == "r.yaml")
    }
}
