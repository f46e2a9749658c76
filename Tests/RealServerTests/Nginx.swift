import Foundation

/// A private nginx server. It stops when it is released.
final class Nginx: Sendable {
  let url: URL
  private let server: LocalServer

  /// The Unix socket on which nginx also listens, without TLS.
  var socketPath: String { server.folder.appendingPathComponent("socket").path }

  static let isExpected = LocalServer.isExpected("nginx")

  /// The TLS settings.
  struct Security: Sendable {
    var certificates: Certificates
    /// The certificate that nginx presents instead of the server's certificate.
    var shown: Certificates.Pair?
    var protocols = "TLSv1.2 TLSv1.3"
    /// Whether clients must present a certificate.
    var asksForCertificate = false
    /// The maximum number of requests per connection.
    var requestsPerConnection = 100_000
    /// The idle timeout of connections in seconds.
    var keepAlive = 75
  }

  /// Starts nginx, optionally with TLS and HTTP/2, or with HTTP/2 alone.
  ///
  /// - Parameters:
  ///   - files: The served files by path.
  ///   - security: The TLS settings, or `nil` for no TLS.
  ///   - speaksHTTP2: Whether nginx supports only HTTP/2, without TLS.
  ///   - origin: A server to which nginx forwards all requests without buffering, instead of serving files.
  init(
    files: [String: Data] = [:], security: Security? = nil, speaksHTTP2: Bool = false, passingTo origin: URL? = nil
  ) async throws {
    var all: [String: Data] = [:]
    for (name, data) in files { all["root/\(name)"] = data }
    if let security {
      let shown = security.shown ?? security.certificates.server
      all["server.pem"] = shown.certificate
      all["server.key"] = shown.key
      all["ca.pem"] = security.certificates.authority
    }
    server = try await LocalServer("nginx", files: all) {
      Self.configuration($0, $1, security, speaksHTTP2, origin.map(Self.passing) ?? Self.serving($0, $1))
    } arguments: {
      ["-p", $0, "-c", "\($0)/configuration", "-e", "\($0)/error.log"]
    }
    url = try server.url(security == nil ? "http" : "https")
  }

  private static func configuration(
    _ port: UInt16, _ folder: String, _ security: Security?, _ speaksHTTP2: Bool, _ locations: String
  ) -> String {
    """
    daemon off;
    worker_processes 1;
    pid \(folder)/nginx.pid;
    error_log \(folder)/error.log;
    events { worker_connections 1024; }
    http {
      access_log off;
      keepalive_timeout \(security?.keepAlive ?? 75)s;
      keepalive_requests \(security?.requestsPerConnection ?? 100_000);
      client_body_temp_path \(folder)/body;
      proxy_temp_path \(folder)/proxy;
      fastcgi_temp_path \(folder)/fastcgi;
      uwsgi_temp_path \(folder)/uwsgi;
      scgi_temp_path \(folder)/scgi;
      gzip_types *;
      large_client_header_buffers 4 128k;
      server {
        # nginx listens in this order, so the socket exists once the port accepts connections.
        \(security == nil ? "listen unix:\(folder)/socket;" : "")
        listen 127.0.0.1:\(port) \(security == nil ? speaksHTTP2 ? "http2" : "" : "ssl http2");
        \(security.map { secured($0, folder) } ?? "")
        \(locations)
      }
    }
    """
  }

  private static func serving(_ port: UInt16, _ folder: String) -> String {
    """
    root \(folder)/root;
        location /upload { client_max_body_size 1k; proxy_pass http://127.0.0.1:\(port)/hello; }
        location /swallow { client_max_body_size 100m; return 204; }
        location /stored {
          client_max_body_size 100m;
          client_body_in_file_only on;
          add_header X-Stored $request_body_file;
          proxy_pass http://127.0.0.1:\(port)/hello;
          proxy_method GET;
          proxy_pass_request_body off;
          proxy_set_header Content-Length "";
        }
        location /packed { gzip on; }
        location /slow/ { alias \(folder)/root/; limit_rate 8m; }
        location /fresh/ { alias \(folder)/root/; expires 1h; }
        location /packed/ { alias \(folder)/root/; gzip_static always; }
        location /echo/name { return 200 "$http_host $ssl_server_name\\n"; }
        location /echo/authorization {
          return 200 "authorization=$http_authorization key=$http_x_api_key plain=$http_x_plain\\n";
        }
        location /moved/301 { return 301 $arg_to; }
        location /moved/302 { return 302 $arg_to; }
        location /moved/303 { return 303 $arg_to; }
        location /moved/307 { return 307 $arg_to; }
        location /moved/308 { return 308 $arg_to; }
        location = /folder { return 301 /folder/; }
        location /folder/ { return 204; }
        location /echo/cookie { return 200 "$http_cookie\\n"; }
        location = /cookies/set {
          add_header Set-Cookie "all=1; Path=/; HttpOnly";
          add_header Set-Cookie "echo=2; Path=/echo";
          add_header Set-Cookie "deep=3; Expires=Thu, 01-Jan-2099 00:00:00 GMT";
          return 204;
        }
        location = /cookies/clear { add_header Set-Cookie "all=; Path=/; Max-Age=0"; return 204; }
        location /cookies { return 200 "$http_cookie\\n"; }
        location /echo/host { return 200 "$server_addr $host\\n"; }
    """
  }

  private static func passing(to origin: URL) -> String {
    """
    client_max_body_size 0;
        ignore_invalid_headers off;
        location / {
          proxy_pass \(origin.absoluteString);
          proxy_http_version 1.1;
          proxy_buffering off;
          proxy_request_buffering off;
          proxy_redirect off;
          proxy_read_timeout 1h;
        }
    """
  }

  private static func secured(_ security: Security, _ folder: String) -> String {
    """
    ssl_certificate \(folder)/server.pem;
        ssl_certificate_key \(folder)/server.key;
        ssl_protocols \(security.protocols);
        \(security.asksForCertificate ? "ssl_client_certificate \(folder)/ca.pem; ssl_verify_client on;" : "")
    """
  }
}
