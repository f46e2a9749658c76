extension HTTPRequest {
  /// Where the request goes.
  /// Throws ``TaskError`` when it cannot be sent: a method or a header field that would break the message, or no origin.
  package func checkedOrigin() throws -> Origin {
    try check()
    return try origin()
  }

  /// Throws what is wrong with the method or the header.
  package func check() throws {
    if method == .connect {
      throw TaskError(.badRequest, "CONNECT is what proxies are asked, not a request of its own", phase: .preparing)
    }
    if !method.isValid {
      throw TaskError(.badRequest, "the method \(method.rawValue.debugDescription) is no token", phase: .preparing)
    }
    if let field = headers.firstInvalid {
      throw TaskError(
        .badRequest,
        "the header field \(field.name.rawName.debugDescription) has a line break, or a name that is no token",
        phase: .preparing)
    }
  }

  /// Where it goes.
  package func origin() throws -> Origin {
    guard let origin = Origin(url) else {
      throw TaskError(.badURL, "'\(Redaction.standard(url))' is no absolute http or https URL", phase: .preparing)
    }
    return origin
  }
}
