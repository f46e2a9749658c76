/// The most likely cause of a call's outcome, with advice. The last line of a flight record's summary shows it.
public struct Diagnosis: Codable, Sendable, Hashable, CustomStringConvertible {
  /// The stable name of the cause, suitable for metrics. <doc:Errors> lists all names.
  public let name: String
  /// A description of the cause.
  public let cause: String
  /// The suggested fix.
  public let advice: String

  package init(_ cause: Cause) {
    name = cause.rawValue
    (self.cause, advice) = cause.words
  }

  /// The cause and the advice, on one line.
  public var description: String { "\(cause): \(advice)" }
}

extension Diagnosis {
  /// The causes that Errand can distinguish.
  package enum Cause: String, CaseIterable, Sendable {
    // Before the request is sent.
    case disabled, noRemote, unknownRemote, badURL, insecureScheme, badLimit, badRequest, encodingFailed,
      unreadableBody, bodyNotReplayable, bodyLengthMismatch, reentrantQueue, queueFull, circuitOpen, notCached,
      notRecorded,
      transportUnavailable
    // While connecting and transferring.
    case cannotResolveHost, forbiddenAddress, connectionRefused, unreachable, offline, plainServer, tlsRefused,
      unusableCertificates, certificateExpired, certificateName, certificateUnknown, pinMismatch,
      proxyAuthenticationRequired, proxyRefused,
      authenticationFailed, signInRequired, idleConnectionLost, lostWhileSending, lostBeforeResponse, truncatedBody,
      slowQueue, slowConnect, slowUpload, slowServer, slowBody, deadline, deadlineInRetries, notHTTP, badResponse
    // After the response head arrived.
    case notFollowed, malformedRequest, unauthorized, forbidden, notFound, methodNotAllowed, notAcceptable, conflict,
      gone,
      preconditionFailed, preconditionRequired, contentTooLarge, urlTooLong, headersTooLarge, unsupportedMediaType,
      unprocessableContent,
      rateLimited,
      unavailableForLegalReasons, clientError, serverError, badGateway, overloaded, gatewayTimeout, notModified,
      partialBody, rangeIgnored, unsatisfiableRange, unacceptedStatus, tooManyRedirects, badRedirect, htmlInsteadOfData,
      emptyBody, wrongFormat, wrongShape, bodyTooLarge, bodyConsumed, digestMismatch, transferInUse, fileNotWritable,
      `internal`
    // Remarks on successful calls.
    case staleConnection, waitedForSlot, retried

    var words: (cause: String, advice: String) {
      switch self {
      case .disabled: ("the server is disabled in this app", "enable it, or expect this error while it is disabled")
      case .noRemote:
        (
          "the server has no remote",
          "create a Server with a remote before the first call, or choose the task's server with .on(_:)"
        )
      case .unknownRemote:
        ("an environment variable names an unknown remote", "correct the variable; the error lists the valid names")
      case .badURL: ("the URL is malformed", "correct the remote, the path or the query shown in the error")
      case .insecureScheme: ("plain http is not allowed for this host", "use https, or add the host to insecureHosts")
      case .badLimit: ("a time limit is zero or less", "set a positive limit, or .unlimited")
      case .badRequest: ("part of the request is invalid", "correct the field named in the error")
      case .encodingFailed:
        ("the payload cannot be encoded", "check the value at the path in the error: this encoding cannot represent it")
      case .unreadableBody:
        ("the file to upload cannot be read", "check its path and permissions; only regular files can be sent")
      case .bodyNotReplayable:
        (
          "the request had to be resent, but its body can only be read once",
          "create the body with HTTPBody.stream, whose closure can recreate it"
        )
      case .bodyLengthMismatch:
        ("the body is shorter or longer than its declared length", "correct the length, or omit it")
      case .reentrantQueue:
        (
          "the call was started inside a call that holds the same serial queue",
          "use another queue, or start the call with `manager.start` or `Task.detached`"
        )
      case .queueFull:
        ("too many calls are waiting for a slot", "start fewer calls concurrently, or raise maximumWaiting")
      case .circuitOpen:
        (
          "the host's circuit breaker is open after repeated failures",
          "wait for the time in the error, or use a fallback; earlier errors explain why the host failed"
        )
      case .notCached:
        (
          "the cache has no usable response, and the cache policy forbids a request",
          "use another cache policy, or handle this error as a cache miss"
        )
      case .notRecorded:
        (
          "the recording has no response for the request",
          "compare the request with the nearest recorded request in the error, or record it with recording: .missing"
        )
      case .transportUnavailable:
        (
          "the transport is missing or cannot send this kind of request",
          "fix the cause given in the error: install libcurl, or change the request"
        )
      case .cannotResolveHost: ("the host name cannot be resolved", "check its spelling, then DNS")
      case .forbiddenAddress:
        (
          "the host's address is not allowed by `addressPolicy`",
          "check where the host name came from; allow the address if it is yours"
        )
      case .connectionRefused:
        (
          "nothing accepts connections at that host and port",
          "check that the server is running, then check the port and any firewalls in between"
        )
      case .unreachable: ("no route to the host", "check the network, the VPN and any firewalls in between")
      case .offline: ("no network connection", "retry when the network is back, or set waitsForConnectivity")
      case .plainServer:
        ("the server does not speak TLS on that port", "use its https port, or http if that is allowed")
      case .tlsRefused:
        (
          "the client and the server could not agree on TLS settings",
          "compare TLS versions and ciphers; the server may require a client certificate"
        )
      case .unusableCertificates:
        (
          "the certificates set for the transport cannot be used",
          "check the files or data of tls.authorities and tls.identity: they must be readable PEM, and the key must match the certificate"
        )
      case .certificateExpired:
        (
          "the server's certificate is expired or not yet valid, or this machine's clock is wrong",
          "renew the certificate; check the clock"
        )
      case .certificateName:
        (
          "the server's certificate is for another host name",
          "use the host name that it was issued for, or replace the certificate"
        )
      case .certificateUnknown:
        (
          "the server's certificate is not signed by a trusted CA",
          "if you run the CA, add its certificate to tls.authorities; otherwise, the connection may be intercepted"
        )
      case .pinMismatch:
        (
          "the server's key doesn't match any of the pins",
          "compare the pins with the keys in the error: the key was rotated, or the connection is intercepted"
        )
      case .proxyAuthenticationRequired: ("the proxy requires credentials", "set the proxy credentials")
      case .proxyRefused:
        ("the proxy refuses requests to this host", "add the host to NO_PROXY, or ask the proxy's administrator")
      case .authenticationFailed:
        ("no access token could be obtained", "see the token endpoint's reason; check the client ID and secret")
      case .signInRequired: ("the sign-in is no longer valid", "have the user sign in again")
      case .idleConnectionLost:
        (
          "the server closed a pooled connection just as it was reused",
          "let idempotent tasks retry, or close idle connections sooner than the server does"
        )
      case .lostWhileSending:
        ("the connection broke while sending the request", "check the server's body size limit and its log")
      case .lostBeforeResponse:
        (
          "the connection broke before a response arrived",
          "look for a crash or a restart in the server's log; check whether the port expects TLS; retry if the request can be resent"
        )
      case .truncatedBody:
        (
          "the response was cut off",
          "retry; if it is always cut off at the same place, check the server and any proxies in between"
        )
      case .slowQueue:
        ("the call waited too long for a slot", "raise the concurrency limits, or start fewer calls")
      case .slowConnect:
        (
          "the connection was not established in time",
          "check the host, the port and any firewalls: packets may be dropped, or the host may be overloaded"
        )
      case .slowUpload:
        ("the request could not be sent in time", "raise the time limit for large bodies, or check the network")
      case .slowServer:
        (
          "the server did not respond in time",
          "check what the server was doing; raise the time limit if it needs longer"
        )
      case .slowBody:
        (
          "the response began, then stalled or took too long",
          "check the server and the network; use download(to:) for large bodies"
        )
      case .deadline:
        (
          "the call's deadline passed during its first attempt",
          "raise timeouts.call, or check the record to see which step took too long"
        )
      case .deadlineInRetries:
        ("the call's deadline passed during retries", "see why the first attempt failed; raise timeouts.call")
      case .notHTTP: ("the peer does not speak HTTP", "check the port")
      case .badResponse: ("the response violates HTTP", "report it to the server's owner, with the error message")
      case .notFollowed:
        (
          "the response is a redirect that was not followed; the error says why",
          "set another redirectPolicy to follow it, or request the URL it points to"
        )
      case .malformedRequest:
        (
          "the server considers the request malformed",
          "compare the body and the query with what the server expects; its response may contain details"
        )
      case .unauthorized:
        (
          "the credentials are missing, wrong or expired",
          "sign in, or renew the credentials; WWW-Authenticate names the expected scheme"
        )
      case .forbidden: ("the server denies access", "check the permissions of the account, or the scope of the token")
      case .notFound: ("there is nothing at that URL", "check the path, the identifier and the remote's base path")
      case .methodNotAllowed: ("the URL does not support this method", "use a method listed in Allow; check the path")
      case .notAcceptable:
        ("the server has no representation that the request accepts", "check the Accept fields of the request")
      case .conflict:
        ("the request conflicts with the current state", "fetch the latest state and apply the change to it")
      case .gone: ("the resource was permanently removed", "stop requesting this URL")
      case .preconditionFailed:
        (
          "the resource has changed since it was read or already exists",
          "fetch the latest version, apply the change to it, and send the latest ETag in If-Match"
        )
      case .preconditionRequired:
        (
          "the server requires this request to be conditional",
          "fetch the resource and send its ETag in If-Match"
        )
      case .contentTooLarge: ("the body is larger than the server accepts", "send less, or split the body")
      case .urlTooLong: ("the URL is too long for the server", "move parameters into the body")
      case .headersTooLarge:
        ("the header is too large for the server", "check the cookies and the size of the other fields")
      case .unsupportedMediaType:
        ("the server does not accept this media type or content coding", "check Content-Type and Content-Encoding")
      case .unprocessableContent:
        ("the server can read the body but rejects its content", "check the fields named in the response")
      case .rateLimited: ("too many requests in too short a time", "respect Retry-After; set a rate limit for the host")
      case .unavailableForLegalReasons: ("access is denied for legal reasons", "contact the server's owner")
      case .clientError: ("the server rejects the request", "check its response for details")
      case .serverError: ("the server failed", "check its log around this time, and its response for details")
      case .badGateway:
        (
          "a proxy or gateway got an invalid response from the upstream server",
          "check that the upstream server is running"
        )
      case .overloaded: ("the server is overloaded or down for maintenance", "retry with backoff; respect Retry-After")
      case .gatewayTimeout:
        (
          "a proxy or gateway timed out waiting for the upstream server",
          "find out why the upstream server is slow, or raise the proxy's time limit"
        )
      case .notModified:
        ("the server returned 304, but the call has no cached response", "omit If-None-Match, or call run()")
      case .partialBody:
        ("the response contains only part of the content", "omit Range, or accept 206 if you want only that part")
      case .rangeIgnored:
        (
          "the server sent the entire content instead of the requested range",
          "download the entire content, or stream it"
        )
      case .unsatisfiableRange:
        ("the requested byte range is not available", "compare it with the size in Content-Range")
      case .unacceptedStatus:
        ("the task does not accept this status", "add it to acceptedStatuses, or expect this error")
      case .tooManyRedirects:
        (
          "the redirects form a loop or exceed the limit",
          "look for a loop, which can be caused by a missing cookie or sign-in; otherwise, allow more with .redirects(.follow(maximum:))"
        )
      case .badRedirect:
        (
          "the redirect points to a forbidden or invalid URL",
          "report it to the server's owner, or get the redirect itself as the response with .redirects(.refuse)"
        )
      case .htmlInsteadOfData:
        (
          "the server sent an HTML page instead of data",
          "check the path; a proxy, a login page or a captive portal may have responded"
        )
      case .emptyBody:
        (
          "the body is empty, but a payload is expected",
          "call run() if the response has no payload, or make the payload optional"
        )
      case .wrongFormat:
        (
          "the body is incomplete or not in the format that the decoder expects",
          "compare its media type and first characters with what the decoder expects; check Accept and the path"
        )
      case .wrongShape:
        ("the data does not match the payload's type", "compare the field named in the error with the type")
      case .bodyTooLarge:
        ("the body exceeds the limit for bodies in memory", "use download(to:) or stream(), or raise maximumBodySize")
      case .bodyConsumed:
        (
          "a loop or a step had already begun to read the body",
          "continue with the same iterator, or collect() the body"
        )
      case .digestMismatch: ("the file does not match its digest", "download the file again, then check the digest")
      case .transferInUse: ("the same transfer is already running", "wait for it, or cancel it")
      case .fileNotWritable: ("the file cannot be written", "check the path, the permissions and the free space")
      case .internal: ("an internal error in Errand", "report it and include this record")
      case .staleConnection:
        (
          "the request was resent because the server closed the pooled connection or refused the request",
          "close idle connections sooner than the server does"
        )
      case .waitedForSlot:
        ("most of the time was spent waiting for a slot", "raise the concurrency limits, or start fewer calls")
      case .retried: ("the call needed more than one attempt", "find out why the first attempt failed")
      }
    }
  }
}
