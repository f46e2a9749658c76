import Errand
import Foundation

struct SignIn: ServerPOSTTask, PayloadUploadingTask {
  struct Form: Encodable, Sendable { let user, password: String }
  let uploadPayload: Form
  let path = "login"
  init(user: String, password: String) { uploadPayload = Form(user: user, password: password) }
}

func session(at shop: Server, secret: String, log: LogOutput) async throws -> Widget {
  try await SignIn(user: "ada", password: secret).on(shop).run()  // 303 with Set-Cookie
  let widget = try await shop.send(GetWidget(id: 7))  // sends the session cookie
  for cookie in shop.cookieJar?.cookies ?? [] { log.write("\(cookie)") }
  return widget
}

func otherCookies(of shop: Server, _ jar: CookieJar) async throws -> [Widget] {
  await shop.update { $0.cookiePolicy = .shared(jar) }
  let page = try await GetWidget(id: 7).cookies(.none).on(shop).send()
  let other = try await GetWidget(id: 7).cookies(.sending(["session": "abc"])).on(shop).send()
  return [page, other]
}

func shopWithCookies(in folder: URL) async throws -> Server {
  let jar = try CookieJar(file: folder.appendingPathComponent("cookies.json"))
  let shop = Server("https://shop.example.com/v1")
  await shop.update { $0.cookiePolicy = .shared(jar) }
  return shop
}

func names(in jar: CookieJar, for url: URL) async throws -> [String] {
  try jar.set("session=abc; Path=/; Secure; HttpOnly", from: url)
  let names = jar.cookies(for: url).map(\.name)
  jar.removeAll { $0.domain == "shop.example.com" }
  try await jar.synchronize()
  return names
}

func signOut(of shop: Server) async {
  await shop.update { $0.cookiePolicy = .shared(CookieJar()) }
}
