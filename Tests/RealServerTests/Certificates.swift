import Foundation

/// A private CA, which has issued a client certificate and a server certificate for 127.0.0.1, localhost and
/// shop.test.
struct Certificates: Sendable {
  struct Pair: Sendable {
    let certificate: Data
    let key: Data
  }

  let authority: Data
  let server: Pair
  let client: Pair
  /// A copy of the server's certificate that has expired.
  let expired: Pair
  /// A copy of the server's certificate that is self-signed.
  let selfSigned: Pair
  /// The hash of the server's key as computed by `openssl`.
  let serverPin: String

  static let isExpected = LocalServer.isExpected("openssl")

  /// Returns the certificates that all tests share.
  static func shared() throws -> Certificates { try made.get() }

  private static let made = Result { try Certificates() }

  /// Creates certificates signed by a CA with this name.
  init(authorityNamed subject: String = "/CN=Errand tests") throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("errand-ca-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }  // leftovers are harmless
    try Self.run(Self.script(subject), in: folder)
    func file(_ name: String) throws -> Data { try Data(contentsOf: folder.appendingPathComponent(name)) }
    authority = try file("ca.pem")
    server = Pair(certificate: try file("server.pem"), key: try file("server.key"))
    client = Pair(certificate: try file("client.pem"), key: try file("client.key"))
    expired = Pair(certificate: try file("expired.pem"), key: try file("expired.key"))
    selfSigned = Pair(certificate: try file("alone.pem"), key: try file("alone.key"))
    serverPin = String(decoding: try file("server.pin"), as: UTF8.self).trimmingCharacters(in: .newlines)
  }

  private static func script(_ subject: String) -> String {
    """
    set -e
    newkey() { openssl ecparam -name prime256v1 -genkey -noout -out "$1.key"; }
    signed() {
      newkey "$1"
      openssl req -new -key "$1.key" -subj "/CN=$2" -out "$1.csr"
      printf '%s' "$3" > "$1.ext"
      openssl x509 -req -in "$1.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -days "${4:-2}" -extfile "$1.ext" -out "$1.pem"
    }
    newkey ca
    openssl req -x509 -new -key ca.key -subj '\(subject)' -days 2 -out ca.pem
    signed server 127.0.0.1 "subjectAltName=IP:127.0.0.1,DNS:localhost,DNS:shop.test"
    signed client somebody "extendedKeyUsage=clientAuth"
    signed expired 127.0.0.1 "subjectAltName=IP:127.0.0.1" -1
    newkey alone
    openssl req -x509 -new -key alone.key -subj /CN=127.0.0.1 -addext "subjectAltName=IP:127.0.0.1" -days 2 -out alone.pem
    openssl x509 -in server.pem -pubkey -noout | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary |
      openssl base64 > server.pin
    """
  }

  private static func run(_ script: String, in folder: URL) throws {
    let errors = folder.appendingPathComponent("errors")
    let status = Shell.runAndBlock("cd '\(folder.path)' && exec 2> errors\n\(script)")
    guard status == 0 else {
      let output = try Data(contentsOf: errors)
      throw LocalServer.Failure(reason: "can't create certificates: \(String(decoding: output, as: UTF8.self))")
    }
  }
}
