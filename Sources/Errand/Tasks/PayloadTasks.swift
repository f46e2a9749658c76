public import ErrandFoundation

/// A task that decodes a payload from the response body.
///
///     struct GetWidget: ServerGETTask, PayloadDownloadingTask<Widget> {   // the same as GET<Widget>
///       let path = "widgets/7"
///     }
///
/// `Data` and `String` payloads are the body itself. An optional payload is `nil` if the body is empty.
public protocol PayloadDownloadingTask<DownloadPayload>: ServerTask {
  /// The type decoded from the body.
  associatedtype DownloadPayload: Decodable & Sendable
}

/// A task that sends a body.
public protocol UploadingTask: ServerTask {}

/// A task that sends a payload, encoded by its own encoder or the server's. A `nil` payload sends no body.
///
///     struct AddWidget: ServerPOSTTask, PayloadUploadingTask<Widget> {   // the same as POST<Widget, NoContent>
///       let uploadPayload: Widget
///       let path = "widgets"
///     }
public protocol PayloadUploadingTask<UploadPayload>: UploadingTask {
  /// The type encoded into the body.
  associatedtype UploadPayload: Encodable & Sendable
  /// The payload to send.
  var uploadPayload: UploadPayload { get }
}

extension PayloadUploadingTask {
  /// Returns the encoded payload. Encoding runs off the caller's actor. If it fails, throws ``TaskError`` and nothing
  /// is sent.
  public func uploadBody(encoder: any BodyEncoder) async throws -> HTTPBody {
    try await PayloadCoding.encode(uploadPayload, with: encoder)
  }
}

extension PayloadUploadingTask where UploadPayload == NoContent {
  /// An empty payload, which sends no body.
  public var uploadPayload: NoContent { NoContent() }
}

/// A task that sends a payload as a form (`application/x-www-form-urlencoded`).
///
///     struct LogIn: ServerPOSTTask, FormUploadingTask<[String: String]>, PayloadDownloadingTask<Session> {
///       let uploadPayload: [String: String]
///       let path = "login"
///     }
///
/// The payload is a dictionary or any other value with keys. If the server expects a different format for nested
/// values, set ``ServerTask/encoder`` to a ``FormEncoder`` with another ``FormStyle``.
public protocol FormUploadingTask<UploadPayload>: PayloadUploadingTask {}

extension FormUploadingTask {
  /// Defaults to a ``FormEncoder``.
  public var encoder: FormEncoder { FormEncoder() }
}

/// A task that sends bytes unchanged.
public protocol DataUploadingTask: UploadingTask {
  /// The bytes to send.
  var uploadData: Data { get }
  /// The media type of the bytes. Defaults to `application/octet-stream`.
  var uploadType: MediaType { get }
}

extension DataUploadingTask {
  /// Defaults to `application/octet-stream`.
  public var uploadType: MediaType { .octetStream }
  /// Returns the bytes unchanged.
  public func uploadBody(encoder: any BodyEncoder) async throws -> HTTPBody {
    .bytes(uploadData, type: uploadType)
  }
}

/// A task that sends a file, streamed from disk.
public protocol FileUploadingTask: UploadingTask {
  /// The file to send.
  var uploadFile: URL { get }
  /// The file's media type. Defaults to the type for its extension, or `application/octet-stream` if the extension is
  /// unknown.
  var uploadType: MediaType { get }
}

extension FileUploadingTask {
  /// Defaults to the type for the file's extension, or `application/octet-stream` if the extension is unknown.
  public var uploadType: MediaType { MediaType(fileExtension: uploadFile.pathExtension) ?? .octetStream }
  /// Returns the file, which is opened for every attempt.
  public func uploadBody(encoder: any BodyEncoder) async throws -> HTTPBody {
    .file(uploadFile, type: uploadType)
  }
}

/// A task that sends a multipart form (`multipart/form-data`).
public protocol MultipartUploadingTask: UploadingTask {
  /// The form. It is created again for every attempt.
  var uploadForm: MultipartForm { get async throws }
}

extension MultipartUploadingTask {
  /// Returns the form with its files opened for this attempt. If a file can't be read or ``uploadForm`` throws,
  /// rethrows that error and nothing is sent.
  public func uploadBody(encoder: any BodyEncoder) async throws -> HTTPBody { try await uploadForm.body() }
}
