public import ErrandFoundation

// The endpoints of each method, with and without a body.

extension Endpoint where Upload == Void {
  /// Creates an endpoint with any method and no body.
  ///
  ///     try await shop.send(.request("PURGE", "widgets/7"))
  public static func request(
    _ method: HTTPMethod, _ path: String, query: HTTPQuery = [:], defaults: Defaults = Defaults()
  ) -> Self {
    Endpoint(method, path, query, defaults) { _ in .empty }
  }

  /// Creates a POST endpoint without a body.
  public static func post(_ path: String, query: HTTPQuery = [:], defaults: Defaults = Defaults()) -> Self {
    request(.post, path, query: query, defaults: defaults)
  }

  /// Creates a PUT endpoint without a body.
  public static func put(_ path: String, query: HTTPQuery = [:], defaults: Defaults = Defaults()) -> Self {
    request(.put, path, query: query, defaults: defaults)
  }

  /// Creates a PATCH endpoint without a body.
  public static func patch(_ path: String, query: HTTPQuery = [:], defaults: Defaults = Defaults()) -> Self {
    request(.patch, path, query: query, defaults: defaults)
  }

  /// Creates a DELETE endpoint without a body.
  public static func delete(_ path: String, query: HTTPQuery = [:], defaults: Defaults = Defaults()) -> Self {
    request(.delete, path, query: query, defaults: defaults)
  }
}

extension Endpoint where Upload == Void, Download: Decodable {
  /// Creates a GET endpoint. The payload type can be inferred.
  ///
  ///     let widget: Widget = try await shop.send(.get("widgets/7"))
  public static func get(_ path: String, query: HTTPQuery = [:], defaults: Defaults = Defaults()) -> Self {
    request(.get, path, query: query, defaults: defaults)
  }
}

extension Endpoint where Upload == Void, Download == Void {
  /// Unavailable: a GET without a payload type is usually a mistake.
  @available(
    *, unavailable,
    message: "a GET needs the type of its payload (let widget: Widget = …); to ignore the body, use .request(.get, …)"
  )
  public static func get(_ path: String, query: HTTPQuery = [:], defaults: Defaults = Defaults()) -> Self {
    request(.get, path, query: query, defaults: defaults)
  }
}

extension Endpoint where Upload: Encodable {
  /// Creates an endpoint with any method and a payload.
  ///
  ///     try await shop.send(.request("MERGE", "widgets/7", body: widget))
  public static func request(
    _ method: HTTPMethod, _ path: String, body: Upload, query: HTTPQuery = [:], defaults: Defaults = Defaults()
  ) -> Self {
    Endpoint(method, path, query, defaults) { try await PayloadCoding.encode(body, with: $0) }
  }

  /// Creates a POST endpoint with a payload.
  public static func post(
    _ path: String, body: Upload, query: HTTPQuery = [:], defaults: Defaults = Defaults()
  ) -> Self {
    request(.post, path, body: body, query: query, defaults: defaults)
  }

  /// Creates a PUT endpoint with a payload.
  public static func put(
    _ path: String, body: Upload, query: HTTPQuery = [:], defaults: Defaults = Defaults()
  ) -> Self {
    request(.put, path, body: body, query: query, defaults: defaults)
  }

  /// Creates a PATCH endpoint with a payload.
  public static func patch(
    _ path: String, body: Upload, query: HTTPQuery = [:], defaults: Defaults = Defaults()
  ) -> Self {
    request(.patch, path, body: body, query: query, defaults: defaults)
  }

  /// Creates a DELETE endpoint with a payload.
  public static func delete(
    _ path: String, body: Upload, query: HTTPQuery = [:], defaults: Defaults = Defaults()
  ) -> Self {
    request(.delete, path, body: body, query: query, defaults: defaults)
  }
}

extension Endpoint where Upload == URL {
  /// Sends the URL itself as the payload. To send the contents of a file, pass `.file(url)`.
  @available(*, deprecated, message: "sends the URL as a string: to send the contents of the file, use .file(url)")
  public static func post(
    _ path: String, body: URL, query: HTTPQuery = [:], defaults: Defaults = Defaults()
  ) -> Self {
    request(.post, path, body: body, query: query, defaults: defaults)
  }

  /// Sends the URL itself as the payload. To send the contents of a file, pass `.file(url)`.
  @available(*, deprecated, message: "sends the URL as a string: to send the contents of the file, use .file(url)")
  public static func put(
    _ path: String, body: URL, query: HTTPQuery = [:], defaults: Defaults = Defaults()
  ) -> Self {
    request(.put, path, body: body, query: query, defaults: defaults)
  }
}

extension Endpoint where Upload: Encodable, Download: Decodable {
  /// Creates a QUERY endpoint with a payload. The response's payload type can be inferred.
  ///
  ///     let widgets: [Widget] = try await shop.send(.query("widgets", body: filter))
  public static func query(
    _ path: String, body: Upload, query: HTTPQuery = [:], defaults: Defaults = Defaults()
  ) -> Self {
    request(.query, path, body: body, query: query, defaults: defaults)
  }
}

extension Endpoint where Upload == HTTPBody {
  /// Creates an endpoint with any method and any body: bytes, text, a form, a file or a stream.
  ///
  ///     try await shop.send(.put("notes/7", body: .file(notes)))
  public static func request(
    _ method: HTTPMethod, _ path: String, body: HTTPBody, query: HTTPQuery = [:], defaults: Defaults = Defaults()
  ) -> Self {
    Endpoint(method, path, query, defaults) { _ in body }
  }

  /// Creates an endpoint with any method and a multipart form. The form's files are opened for every attempt.
  public static func request(
    _ method: HTTPMethod, _ path: String, form: MultipartForm, query: HTTPQuery = [:], defaults: Defaults = Defaults()
  ) -> Self {
    Endpoint(method, path, query, defaults) { _ in try form.body() }
  }

  /// Creates an endpoint with any method and a form (`application/x-www-form-urlencoded`).
  public static func request(
    _ method: HTTPMethod, _ path: String, form: HTTPQuery, query: HTTPQuery = [:], defaults: Defaults = Defaults()
  ) -> Self {
    request(method, path, body: .form(form), query: query, defaults: defaults)
  }

  /// Creates a POST endpoint with any body.
  public static func post(
    _ path: String, body: HTTPBody, query: HTTPQuery = [:], defaults: Defaults = Defaults()
  ) -> Self {
    request(.post, path, body: body, query: query, defaults: defaults)
  }

  /// Creates a PUT endpoint with any body.
  public static func put(
    _ path: String, body: HTTPBody, query: HTTPQuery = [:], defaults: Defaults = Defaults()
  ) -> Self {
    request(.put, path, body: body, query: query, defaults: defaults)
  }

  /// Creates a PATCH endpoint with any body.
  public static func patch(
    _ path: String, body: HTTPBody, query: HTTPQuery = [:], defaults: Defaults = Defaults()
  ) -> Self {
    request(.patch, path, body: body, query: query, defaults: defaults)
  }

  /// Creates a DELETE endpoint with any body.
  public static func delete(
    _ path: String, body: HTTPBody, query: HTTPQuery = [:], defaults: Defaults = Defaults()
  ) -> Self {
    request(.delete, path, body: body, query: query, defaults: defaults)
  }

  /// Creates a POST endpoint with a multipart form. The form's files are opened for every attempt.
  ///
  ///     try await shop.send(.post("photos", form: MultipartForm([.file("photo", picture)])))
  public static func post(
    _ path: String, form: MultipartForm, query: HTTPQuery = [:], defaults: Defaults = Defaults()
  ) -> Self {
    request(.post, path, form: form, query: query, defaults: defaults)
  }

  /// Creates a POST endpoint with a form (`application/x-www-form-urlencoded`).
  ///
  ///     let session: Session = try await shop.send(.post("login", form: ["user": "ada", "password": password]))
  public static func post(
    _ path: String, form: HTTPQuery, query: HTTPQuery = [:], defaults: Defaults = Defaults()
  ) -> Self {
    request(.post, path, form: form, query: query, defaults: defaults)
  }
}

extension Endpoint where Upload == HTTPBody, Download: Decodable {
  /// Creates a QUERY endpoint with any body. The response's payload type can be inferred.
  public static func query(
    _ path: String, body: HTTPBody, query: HTTPQuery = [:], defaults: Defaults = Defaults()
  ) -> Self {
    request(.query, path, body: body, query: query, defaults: defaults)
  }
}
