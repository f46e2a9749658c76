public import ErrandFoundation

/// A task whose response is a payload: a value that is decoded from the body.
///
/// `Data` and `String` payloads are the body itself. An optional payload is nil when the body is empty.
public protocol PayloadDownloadingTask: ServerTask {
  /// The type that the body is decoded into.
  associatedtype DownloadPayload: Decodable & Sendable
}

/// A task that sends a body; it has the verb ``upload()``.
public protocol UploadingTask: ServerTask {}

/// A task that sends a payload, encoded by its encoder or the server's. A payload that is nil is no body.
public protocol PayloadUploadingTask: UploadingTask {
  /// The type that is encoded into the body.
  associatedtype UploadPayload: Encodable & Sendable
  /// The value to send.
  var uploadPayload: UploadPayload { get }
}

extension PayloadUploadingTask {
  /// The payload, encoded off the caller's actor.
  /// Throws ``TaskError`` when it cannot be encoded; nothing is sent then.
  public func uploadBody(encoder: any BodyEncoder) async throws -> HTTPBody {
    try await PayloadCoding.encode(uploadPayload, with: encoder)
  }
}

/// A task that sends a payload as a form, `application/x-www-form-urlencoded`.
///
/// The payload is a dictionary or any other value with keys. State ``ServerTask/encoder`` as a ``FormEncoder`` with another
/// ``FormStyle`` where the server names nested values in another way.
public protocol FormUploadingTask: PayloadUploadingTask {}

extension FormUploadingTask {
  /// ``FormEncoder``.
  public var encoder: FormEncoder { FormEncoder() }
}

/// A task that sends bytes as they are.
public protocol DataUploadingTask: UploadingTask {
  /// The bytes to send.
  var uploadData: Data { get }
  /// The media type of the bytes; `application/octet-stream` unless stated.
  var uploadType: MediaType { get }
}

extension DataUploadingTask {
  /// `application/octet-stream`.
  public var uploadType: MediaType { .octetStream }
  /// The bytes as they are.
  public func uploadBody(encoder: any BodyEncoder) async throws -> HTTPBody {
    .bytes(uploadData, type: uploadType)
  }
}

/// A task that sends a file, read as it is sent.
public protocol FileUploadingTask: UploadingTask {
  /// The file to send.
  var uploadFile: URL { get }
  /// The media type of the file; that of its extension, else `application/octet-stream`, unless stated.
  var uploadType: MediaType { get }
}

extension FileUploadingTask {
  /// That of the file's extension, else `application/octet-stream`.
  public var uploadType: MediaType { MediaType(fileExtension: uploadFile.pathExtension) ?? .octetStream }
  /// The file, opened anew for every attempt.
  public func uploadBody(encoder: any BodyEncoder) async throws -> HTTPBody {
    .file(uploadFile, type: uploadType)
  }
}

/// A task that sends a form with files, `multipart/form-data`.
public protocol MultipartUploadingTask: UploadingTask {
  /// The form; asked for anew for every attempt.
  var uploadForm: MultipartForm { get async throws }
}

extension MultipartUploadingTask {
  /// The form, its files opened for every attempt.
  /// Throws what ``uploadForm`` throws, and where a file cannot be read; nothing is sent then.
  public func uploadBody(encoder: any BodyEncoder) async throws -> HTTPBody { try await uploadForm.body() }
}
