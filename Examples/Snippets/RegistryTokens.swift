import Errand
import Foundation

/// Gets a token for each repository of a Docker registry from the service that the registry's 401 names.
struct RegistryTokens: Authenticator {
  let user, password: String

  func tokenKey(for request: HTTPRequest) -> String {
    let words = request.url.path.split(separator: "/").dropFirst()  // without "v2"
    return words.prefix { !["blobs", "manifests", "tags"].contains($0) }.joined(separator: "/")
  }

  func apply(_ token: String, to request: inout HTTPRequest) { request.headers[.authorization] = "Bearer \(token)" }

  func refresh(_ token: String?, after response: HTTPResponse?, _ context: RefreshContext) async throws -> String? {
    let challenge = response?.headers.challenges.first { $0.isScheme("Bearer") }
    guard let challenge, var url = challenge.realm.flatMap({ URL(string: $0) }) else { return nil }
    url.append(queryItems: ["service", "scope"].map { URLQueryItem(name: $0, value: challenge[$0]) })
    let basic = Data("\(user):\(password)".utf8).base64EncodedString()
    let answer = try await context.send(HTTPRequest(.get, url, headers: [.authorization: "Basic \(basic)"]))
    guard answer.status == .ok else { throw TaskError(.authenticationFailed, "no registry token", response: answer) }
    struct Answer: Decodable { let token: String }
    return try await answer.decoded(Answer.self).token
  }
}
