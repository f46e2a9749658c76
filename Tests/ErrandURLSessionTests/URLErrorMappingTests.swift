import Foundation
import Testing

@testable import Errand
@testable import ErrandURLSession

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(1))) struct URLErrorMappingTests {
  @Test(arguments: [
    (URLError.Code.cannotFindHost, TaskError.Code.cannotResolveHost), (.dnsLookupFailed, .cannotResolveHost),
    (.cannotConnectToHost, .cannotConnect), (.notConnectedToInternet, .offline),
    (.secureConnectionFailed, .secureConnectionFailed), (.serverCertificateUntrusted, .untrustedServer),
  ])
  func `marks a connection failure as not sent unless a connection was observed`(
    code: URLError.Code, expected: TaskError.Code
  ) throws {
    let early = TaskError.ofURLSession(URLError(code), phase: .awaitingResponse, nothingSeen: true) as? TaskError
    #expect(early?.code == expected)
    #expect(early?.wasNotSent == true && early?.phase == .connecting)
    let late = TaskError.ofURLSession(URLError(code), phase: .sending, nothingSeen: false) as? TaskError
    #expect(late?.wasNotSent == false && late?.phase == .sending)
  }

  @Test(arguments: [
    (URLError.Code.networkConnectionLost, TaskError.Code.connectionLost), (.timedOut, .timedOut),
    (.cannotParseResponse, .badResponse), (.clientCertificateRequired, .secureConnectionFailed),
    (.unknown, .connectionLost),
  ])
  func `marks later failures as possibly sent`(code: URLError.Code, expected: TaskError.Code) {
    let error = TaskError.ofURLSession(URLError(code), phase: .awaitingResponse, nothingSeen: true) as? TaskError
    #expect(error?.code == expected)
    #expect(error?.wasNotSent == false)
  }

  @Test func `maps a cancelled task to CancellationError`() {
    #expect(TaskError.ofURLSession(URLError(.cancelled), phase: .sending, nothingSeen: false) is CancellationError)
  }

  @Test func `removes the URL that URLSession attaches to an error`() throws {
    let url = try #require(URL(string: "https://example.com/?token=hush"))
    let error = URLError(.timedOut, userInfo: [NSURLErrorFailingURLErrorKey: url])
    let mapped = try #require(TaskError.ofURLSession(error, phase: .sending, nothingSeen: false) as? TaskError)
    #expect(!"\(mapped) \(String(describing: mapped.underlying))".contains("hush"))
  }
}
