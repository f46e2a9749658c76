import ErrandFoundation

extension FileValidators {
  /// Reads the validators from a response. `mark` returns an identifier for the request that includes the fields named
  /// in `Vary`. Returns `nil` if the response has neither an entity tag nor a date, or if `Vary` prevents reuse.
  init?(_ headers: HTTPHeaders, mark: (_ varying: [HTTPHeaderName]) -> String) {
    let (eTag, lastModified) = Self.validators(in: headers)
    guard !eTag.isEmpty || !lastModified.isEmpty, case .fields(let varying) = Vary(headers) else {
      return nil
    }
    self.init(mark: mark(varying), varying: varying, eTag: eTag, lastModified: lastModified)
  }

  /// Returns the validators of a file, or `nil` if the file is missing or has changed since the download.
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

  /// Stores the validators of a file that was just downloaded. If `validators` is `nil`, removes the stored validators.
  /// `stamp` identifies the file, in case another download has replaced it.
  static func keep(_ validators: FileValidators?, for file: URL, stamp: String?) {
    let place = place(for: file).path
    unlink(place)  // the old validators belong to another version
    guard let validators, let stamp else { return }
    let varying = validators.varying.map(\.rawName).joined(separator: ",")
    let lines = [stamp, validators.mark, varying, validators.eTag, validators.lastModified, ""]
    guard !lines.dropLast().contains(where: { $0.contains("\n") }) else { return }
    // O_EXCL: never follow a planted link. If this fails, the file will simply be downloaded again.
    let descriptor = open(place, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return }
    let bytes = Array(lines.joined(separator: "\n").utf8)
    let isWhole = write(descriptor, bytes, bytes.count) == bytes.count
    if close(descriptor) != 0 || !isWhole { unlink(place) }
  }

  private static func place(for file: URL) -> URL {
    let name = Checksum.of(file.lastPathComponent).hexadecimal  // the file name could already have the maximum length
    return file.deletingLastPathComponent().appendingPathComponent(".errand-\(name).version")
  }

  /// Returns a file's size, inode and modification time, which are used to detect changes.
  private static func stamp(of file: URL) -> String? {
    var status = stat()
    guard stat(file.path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return stamp(of: status)
  }

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
  package var lastChange: (seconds: Int, nanoseconds: Int) {
    #if canImport(Darwin)
      let time = st_mtimespec
    #else
      let time = st_mtim
    #endif
    return Self.parts(of: time)
  }

  /// The time at which the content or the metadata, such as the mode, last changed.
  package var lastStatusChange: (seconds: Int, nanoseconds: Int) {
    #if canImport(Darwin)
      let time = st_ctimespec
    #else
      let time = st_ctim
    #endif
    return Self.parts(of: time)
  }

  private static func parts<Time>(of time: Time) -> (seconds: Int, nanoseconds: Int) {
    // Read the raw bytes: release builds can't import the module that declares the fields of `timespec`.
    withUnsafeBytes(of: time) { ($0.load(as: Int.self), $0.load(fromByteOffset: 8, as: Int.self)) }
  }
}
