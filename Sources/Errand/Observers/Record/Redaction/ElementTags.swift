/// The start and end tags in a text, by lowercase name. The text is scanned only once, for any number of lookups.
struct ElementTags {
  private struct Tag {
    let place: Int
    let isEnd: Bool
  }

  private struct Tags {
    var all: [Tag] = []
    var lastEnd = -1
  }

  private var tags: [[UInt8]: Tags] = [:]

  init(_ bytes: [UInt8]) {
    var index = 0
    while let place = bytes[index...].firstIndex(of: UInt8(ascii: "<")) {
      // JSON may escape the slash: `<\/name>`.
      let start = bytes[(place + 1)...].firstIndex { $0 != UInt8(ascii: "\\") } ?? bytes.count
      let isEnd = start < bytes.count && bytes[start] == UInt8(ascii: "/")
      let name = bytes[(isEnd ? start + 1 : start)...].prefix(while: TextRedactor.isElementByte)
      index = max(name.endIndex, place + 1)
      let close = bytes[index...].firstIndex { $0 == UInt8(ascii: ">") || $0 == UInt8(ascii: "<") } ?? bytes.count
      index = close
      let isEmpty = !isEnd && bytes[close - 1] == UInt8(ascii: "/")
      if !name.isEmpty, !isEmpty { add(Tag(place: place, isEnd: isEnd), Self.folded(name)) }
    }
  }

  private mutating func add(_ tag: Tag, _ name: [UInt8]) {
    tags[name, default: Tags()].all.append(tag)
    if tag.isEnd { tags[name]?.lastEnd = tag.place }
  }

  /// Returns the position of the end tag of the element whose content begins at `start`, skipping nested elements with
  /// the same name. If nested elements are not closed, returns the last end tag. Returns `nil` if there is no end tag.
  func end(of name: ArraySlice<UInt8>, from start: Int) -> Int? {
    // The tags skipped here are in hidden text, so they are not visited again.
    guard let tags = tags[Self.folded(name)], tags.lastEnd >= start else { return nil }
    var depth = 1
    for tag in tags.all[first(in: tags.all, from: start)...] {
      depth += tag.isEnd ? -1 : 1
      if depth == 0 || tag.place == tags.lastEnd { return tag.place }
    }
    return nil
  }

  private func first(in tags: [Tag], from start: Int) -> Int {
    var (low, high) = (0, tags.count)
    while low < high {
      let middle = (low + high) / 2
      if tags[middle].place < start { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private static func folded(_ name: ArraySlice<UInt8>) -> [UInt8] {
    name.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
  }
}
