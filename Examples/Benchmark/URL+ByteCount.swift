import ErrandFoundation

extension URL {
  /// The bytes of a file; 0 where there is none. Foundation's attributes have numbers of another type on each platform.
  var byteCount: Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
  }
}
