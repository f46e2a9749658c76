#if os(Linux)
  import Errand
  import Foundation

  /// An OAuth 2 server in Python that uses Authlib and Flask. It has one resource, `/widgets`, and rotates refresh
  /// tokens.
  final class AuthlibServer: Sendable {
    let url: URL
    private let server: LocalServer

    static let isExpected = interpreter != nil || ProcessInfo.processInfo.environment["CI"] == "true"

    private static let interpreter = Python.interpreter(with: "authlib, flask")

    init() async throws {
      guard let interpreter = Self.interpreter else {
        throw LocalServer.Failure(reason: "python3 with the packages authlib and flask is not installed")
      }
      server = try await LocalServer(interpreter) { port, _ in
        Self.script.replacingOccurrences(of: "PORT", with: "\(port)")
      } arguments: {
        ["\($0)/configuration"]
      }
      guard let url = URL(string: "http://127.0.0.1:\(server.port)") else {
        throw LocalServer.Failure(reason: "can't make a URL for port \(server.port)")
      }
      self.url = url
    }

    func url(_ path: String) -> URL { url.appendingPathComponent(path) }

    /// The requests that the server has received.
    struct Seen: Decodable {
      /// The grants of all token requests in order.
      let grants: [String]
      /// The number of token requests with an already used refresh token.
      let reused: Int
    }

    private let plain = Server(.none, environment: [:])

    func seen() async throws -> Seen {
      try JSONDecoder().decode(Seen.self, from: try await URLTask(url("seen")).on(plain).downloadData())
    }

    /// Expires all access tokens.
    func expire() async throws { try await URLTask(url("expire"), method: .post).on(plain).run() }

    /// Approves a user code.
    func approve(_ userCode: String) async throws {
      let body = HTTPBody.bytes(Data("user_code=\(userCode)".utf8), type: .form)
      try await URLTask(url("approve"), method: .post, body: body).on(plain).run()
    }

    /// Signs in on the authorization page like a browser, and returns the redirect target.
    func signIn(on page: URL) async throws -> URL? {
      let task = URLTask(page).on(plain).accepting(.all).redirects(.refuse)
      return try await task.run().headers[.location].flatMap { URL(string: $0) }
    }

    private static let script = #"""
      import json, os, threading, time

      os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"

      from authlib.integrations.flask_oauth2 import AuthorizationServer, ResourceProtector
      from authlib.oauth2.rfc6749 import ClientMixin, TokenMixin, grants
      from authlib.oauth2.rfc6750 import BearerTokenValidator
      from authlib.oauth2.rfc7636 import CodeChallenge
      from authlib.oauth2.rfc8628 import (
          DeviceAuthorizationEndpoint, DeviceCodeGrant, DeviceCredentialDict)
      from flask import Flask, jsonify, request
      from werkzeug.serving import WSGIRequestHandler

      app = Flask(__name__)
      app.secret_key = "tests"
      app.config["OAUTH2_REFRESH_TOKEN_GENERATOR"] = True
      lock = threading.Lock()
      tokens, codes, devices, approved, used = {}, {}, {}, {}, set()
      seen = {"grants": [], "reused": 0}


      class Client(ClientMixin):
          def __init__(self, id, secret):
              self.client_id, self.client_secret = id, secret

          def get_client_id(self): return self.client_id
          def get_default_redirect_uri(self): return None
          def get_allowed_scope(self, scope): return scope or ""
          def check_redirect_uri(self, uri): return True
          def check_client_secret(self, secret): return secret == self.client_secret
          def check_response_type(self, kind): return kind == "code"
          def check_grant_type(self, kind): return True

          def check_endpoint_auth_method(self, method, endpoint):
              return (method == "none") == (self.client_secret is None)


      class Token(TokenMixin):
          def __init__(self, data, client, user):
              self.data, self.client, self.user = data, client, user
              self.ends = time.time() + data["expires_in"]
              self.revoked = False

          def check_client(self, client): return client.client_id == self.client.client_id
          def get_scope(self): return self.data.get("scope", "")
          def get_expires_in(self): return self.data["expires_in"]
          def is_expired(self): return time.time() >= self.ends
          def is_revoked(self): return self.revoked
          def get_user(self): return self.user
          def get_client(self): return self.client


      class Code:
          def __init__(self, request):
              payload = request.payload
              self.redirect_uri, self.scope = payload.redirect_uri, payload.scope
              self.code_challenge = payload.data.get("code_challenge")
              self.code_challenge_method = payload.data.get("code_challenge_method")

          def get_redirect_uri(self): return self.redirect_uri
          def get_scope(self): return self.scope


      clients = {"shop": Client("shop", "s3:cret %"), "app": Client("app", None)}


      def save(data, request):
          with lock:
              token = Token(dict(data), request.client, request.user or "client")
              tokens[data["access_token"]] = token
              if "refresh_token" in data: tokens[data["refresh_token"]] = token


      server = AuthorizationServer(app, query_client=clients.get, save_token=save)


      class ClientCredentials(grants.ClientCredentialsGrant):
          TOKEN_ENDPOINT_AUTH_METHODS = ["client_secret_basic", "client_secret_post"]


      class Password(grants.ResourceOwnerPasswordCredentialsGrant):
          TOKEN_ENDPOINT_AUTH_METHODS = ["client_secret_basic", "client_secret_post", "none"]

          def authenticate_user(self, name, password):
              return name if password == "open sesame" else None


      class Refresh(grants.RefreshTokenGrant):
          TOKEN_ENDPOINT_AUTH_METHODS = ["client_secret_basic", "client_secret_post", "none"]
          INCLUDE_NEW_REFRESH_TOKEN = True

          def authenticate_refresh_token(self, value):
              with lock:
                  if value in used: seen["reused"] += 1
                  token = None if value in used else tokens.get(value)
                  used.add(value)
                  return token

          def authenticate_user(self, token): return token.user
          def revoke_old_credential(self, token): token.revoked = True


      class AuthorizationCode(grants.AuthorizationCodeGrant):
          TOKEN_ENDPOINT_AUTH_METHODS = ["client_secret_basic", "client_secret_post", "none"]

          def save_authorization_code(self, code, request): codes[code] = Code(request)
          def query_authorization_code(self, code, client): return codes.get(code)
          def delete_authorization_code(self, code):
              for key in [key for key, value in codes.items() if value is code]: del codes[key]

          def authenticate_user(self, code): return "ann"


      class DeviceEndpoint(DeviceAuthorizationEndpoint):
          INTERVAL = 1
          CLIENT_AUTH_METHODS = ["client_secret_basic", "client_secret_post", "none"]

          def get_verification_uri(self): return request.host_url + "device"
          def save_device_credential(self, client_id, scope, data):
              devices[data["device_code"]] = DeviceCredentialDict(
                  client_id=client_id, scope=scope, expires_at=time.time() + data["expires_in"], **data)


      class Device(DeviceCodeGrant):
          TOKEN_ENDPOINT_AUTH_METHODS = ["client_secret_basic", "client_secret_post", "none"]

          def query_device_credential(self, code): return devices.get(code)
          def query_user_grant(self, user_code): return approved.get(user_code)
          def should_slow_down(self, credential): return False


      class Validator(BearerTokenValidator):
          def authenticate_token(self, value):
              token = tokens.get(value)
              return token if token and token.data["access_token"] == value else None


      server.register_grant(ClientCredentials)
      server.register_grant(Password)
      server.register_grant(Refresh)
      server.register_grant(AuthorizationCode, [CodeChallenge(required=True)])
      server.register_grant(Device)
      server.register_endpoint(DeviceEndpoint)
      protect = ResourceProtector()
      protect.register_token_validator(Validator())


      @app.post("/token")
      def token():
          with lock: seen["grants"].append(request.form.get("grant_type"))
          return server.create_token_response()


      @app.get("/authorize")
      def authorize(): return server.create_authorization_response(grant_user="ann", grant=server.get_consent_grant(end_user="ann"))


      @app.post("/device")
      def device(): return server.create_endpoint_response(DeviceEndpoint.ENDPOINT_NAME)


      @app.post("/approve")
      def approve():
          approved[request.form["user_code"]] = ("ann", True)
          return ""


      @app.get("/widgets")
      @protect()
      def widgets(): return jsonify(id=7)


      @app.post("/expire")
      def expire():
          for token in list(tokens.values()): token.ends = 0
          return ""


      @app.get("/seen")
      def stats():
          with lock: return jsonify(seen)


      WSGIRequestHandler.protocol_version = "HTTP/1.1"
      import logging
      logging.getLogger("werkzeug").disabled = True
      app.run("127.0.0.1", int("PORT"), threaded=True)
      """#
  }
#endif
