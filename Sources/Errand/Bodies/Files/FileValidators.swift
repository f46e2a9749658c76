import ErrandFoundation

/// The validators of the version in a downloaded file; kept in a hidden file beside it, for this user alone.
struct FileValidators: Equatable {
  /// A mark of the request that it answers: the URL, and the fields by which it was chosen.
  let mark: String
  /// The names of these fields.
  let varying: [HTTPHeaderName]
  let eTag: String
  let lastModified: String

  /// Nil where the header has neither a tag nor a date, so that the server could not be asked, and where the response fits no
  /// other request.
  ///
  /// - Parameters:
  ///   - headers: The header of the response.
  ///   - mark: A mark of its request by the fields that the header names.
  init?(_ headers: HTTPHeaders, mark: (_ varying: [HTTPHeaderName]) -> String) {
    let (eTag, lastModified) = (headers.tagForCopy?.text ?? "", headers.dateForCopy ?? "")
    guard !eTag.isEmpty || !lastModified.isEmpty, case .fields(let varying) = Vary(headers) else {
      return nil
    }
    self.init(mark: mark(varying), varying: varying, eTag: eTag, lastModified: lastModified)
  }

  private init(mark: String, varying: [HTTPHeaderName], eTag: String, lastModified: String) {
    self.mark = mark
    self.varying = varying
    self.eTag = eTag
    self.lastModified = lastModified
  }

  /// The conditions for a request that has none.
  func add(to headers: inout HTTPHeaders) {
    guard !headers.contains(.ifNoneMatch), !headers.contains(.ifModifiedSince) else { return }
    if !eTag.isEmpty { headers[.ifNoneMatch] = eTag }
    if !lastModified.isEmpty { headers[.ifModifiedSince] = lastModified }
  }

  /// The validators of a file; nil where it is not there, or is not as it was downloaded.
  static func of(_ file: URL) -> FileValidators? {
    guard let stamp = stamp(of: file),
      let note = Descriptor.contents(ofOwn: place(for: file).path, below: 64 << 10),
      let text = String(data: note, encoding: .utf8)
    else { return nil }
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
    guard lines.count == 6, lines[0] == stamp, lines[5].isEmpty else { return nil }
    let varying = lines[2].split(separator: ",").map { HTTPHeaderName(String($0)) }
    return FileValidators(mark: lines[1], varying: varying, eTag: lines[3], lastModified: lines[4])
  }

  /// Notes what is known of a file that was just downloaded.
  ///
  /// - Parameters:
  ///   - validators: What is known; nil where that is nothing.
  ///   - file: The place of the file.
  ///   - stamp: Its stamp: what another download has put there meanwhile is another file.
  static func keep(_ validators: FileValidators?, for file: URL, stamp: String?) {
    let place = place(for: file).path
    unlink(place)  // what was known is about another version
    guard let validators, let stamp else { return }
    let varying = validators.varying.map(\.rawName).joined(separator: ",")
    let lines = [stamp, validators.mark, varying, validators.eTag, validators.lastModified, ""]
    guard !lines.dropLast().contains(where: { $0.contains("\n") }) else { return }
    // Exclusively, so that no planted link is followed. Without it the file is downloaded once more: nothing fails.
    let descriptor = open(place, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return }
    let bytes = Array(lines.joined(separator: "\n").utf8)
    let isWhole = write(descriptor, bytes, bytes.count) == bytes.count
    if close(descriptor) != 0 || !isWhole { unlink(place) }
  }

  private static func place(for file: URL) -> URL {
    let name = Checksum.of(file.lastPathComponent).hexadecimal  // the name itself may be as long as names can be
    return file.deletingLastPathComponent().appendingPathComponent(".errand-\(name).version")
  }

  /// Size and time of a file, by which one that was changed since is known.
  private static func stamp(of file: URL) -> String? {
    var status = stat()
    guard stat(file.path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return stamp(of: status)
  }

  /// The same of one that is open.
  static func stamp(of descriptor: Int32) -> String? {
    var status = stat()
    return fstat(descriptor, &status) == 0 ? stamp(of: status) : nil
  }

  private static func stamp(of status: stat) -> String {
    let time = status.lastChange
    return "\(status.st_size) \(status.st_ino) \(time.seconds).\(time.nanoseconds)"
  }
}

extension stat {
  /// The time of the last change of the content, since 1970.
  var lastChange: (seconds: Int, nanoseconds: Int) {
    #if canImport(Darwin)
      let time = st_mtimespec
    #else
      let time = st_mtim
    #endif
    return Self.parts(of: time)
  }

  /// The date of the last change of the file's content or of what is said of it, as its mode.
  var lastStatusChange: (seconds: Int, nanoseconds: Int) {
    #if canImport(Darwin)
      let time = st_ctimespec
    #else
      let time = st_ctim
    #endif
    return Self.parts(of: time)
  }

  private static func parts<Time>(of time: Time) -> (seconds: Int, nanoseconds: Int) {
    // As bytes: in a release build the fields of `timespec` are of a module that has no name to import.
    withUnsafeBytes(of: time) { ($0.load(as: Int.self), $0.load(fromByteOffset: 8, as: Int.self)) }
  }
}
