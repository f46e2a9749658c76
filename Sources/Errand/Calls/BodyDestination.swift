package import ErrandFoundation

/// A file download's destination.
package enum FilePlace: Sendable {
  /// This file, which is replaced if it exists.
  case exact(URL)
  /// A file in this folder, named after the response. Existing files are kept unless `replacing` is `true`.
  case named(in: URL, replacing: Bool)

  var exact: URL? {
    if case .exact(let file) = self { file } else { nil }
  }
}

/// The destination of an accepted response's body.
package enum BodyDestination: Sendable {
  case discarded
  case memory
  /// Written to a temporary file that is moved to its destination once the body is complete.
  case file(FilePlace)
  case stream

  var isStream: Bool {
    if case .stream = self { true } else { false }
  }

  var isFile: Bool {
    if case .file = self { true } else { false }
  }

  /// Whether the body is read into memory or discarded, rather than written to a file or streamed.
  var isInMemory: Bool {
    switch self {
    case .discarded, .memory: true
    case .file, .stream: false
    }
  }

  var isShareable: Bool {
    if case .memory = self { true } else { false }
  }

  /// Whether the call returns the body. If so, an incomplete body is an error.
  var wantsBody: Bool {
    switch self {
    case .memory, .file: true
    case .discarded, .stream: false
    }
  }
}
