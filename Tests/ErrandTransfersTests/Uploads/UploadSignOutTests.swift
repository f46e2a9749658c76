import Errand
import ErrandTesting
import ErrandTransfers
import Foundation
import Testing

/// Uploads that are running when the user signs out.
@Suite(.timeLimit(.minutes(1))) struct UploadSignOutTests {
  @Test(arguments: ["https://shop.test/files/1", "https://files.test/1"])
  func `an upload ends at a sign-out and does not continue as the next user`(
    location: String
  ) async throws {
    let (user, sent) = (Shared("ann"), Shared<[String?]>([]))
    let signIn = Authentication.bearer { user.withLock { $0 } }.forOrigins("https://shop.test", "https://files.test")
    let server = Server(
      "https://shop.test",
      transport: StubTransport { request in
        sent.withLock { $0.append(request.headers[.authorization]) }
        guard request.method == .patch else {
          return HTTPResponse(.created, url: request.url, headers: [.location: location])
        }
        try await signIn.forget()
        user.withLock { $0 = "bob" }
        let end = (request.headers["Upload-Offset"].flatMap { Int($0) } ?? 0) + 2
        return HTTPResponse(.noContent, url: request.url, headers: ["Upload-Offset": "\(end)"])
      }, asDefault: false, environment: [:]
    ) {
      $0.log = .discard
      $0.authentication = signIn
    }
    let content = Data("abcd".utf8)
    let task = AddWidget().on(server)
    let upload = ResumableUpload(named: "a", length: 4, with: task, by: .tus, chunkSize: 2) { offset, count in
      content.dropFirst(Int(offset)).prefix(count)
    }
    #expect(await taskError { try await upload.run() }?.code == .authenticationFailed)
    #expect(Set(sent.withLock { $0 }) == ["Bearer ann"])
  }
}
