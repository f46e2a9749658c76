import Errand
import Testing

@Suite(.timeLimit(.minutes(1))) struct HTTPStatusTests {
  @Test(arguments: [
    (200, "200 OK"), (404, "404 Not Found"), (511, "511 Network Authentication Required"), (299, "299"), (599, "599"),
    (600, "600"), (999, "999"), (0, "0"), (-1, "-1"), (.max, "\(Int.max)"),
  ])
  func `describes a status by its code and its reason phrase, if known`(code: Int, expected: String) {
    #expect("\(HTTPStatus(code))" == expected)
  }

  @Test func `the first digit of a status code determines its class`() {
    let codes = [100, 299, 301, 404, 599, 600, 99, 0, -1, .max]
    let kinds: [HTTPStatus.Kind?] = [
      .informational, .success, .redirection, .clientError, .serverError, nil, nil, nil, nil, nil,
    ]
    #expect(codes.map { HTTPStatus($0).kind } == kinds)
    #expect(
      [200, 204, 304].allSatisfy { HTTPStatus($0).isAccepted } && ![302, 404].contains { HTTPStatus($0).isAccepted })
  }
}
