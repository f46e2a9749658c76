/// Where elements begin and end in text, by their names in small letters: read once, however many are asked for. Pure.
struct ElementTags {
  private struct Tag {
    let place: Int
    let isEnd: Bool
  }

  private struct Tags {
    var all: [Tag] = []
    /// The place of the last end tag.
    var lastEnd = -1
  }

  private var tags: [[UInt8]: Tags] = [:]

  init(_ bytes: [UInt8]) {
    var index = 0
    while let place = bytes[index...].firstIndex(of: UInt8(ascii: "<")) {
      // As JSON may write it: `<\/name>`.
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

  /// The place of the end tag of the element whose content begins at `start`, past those of the same name in it; of the last one where
  /// these are not all ended, and nil where there is none.
  func end(of name: ArraySlice<UInt8>, from start: Int) -> Int? {
    // What is walked through ends at the last end tag, and is hidden.
    guard let tags = tags[Self.folded(name)], tags.lastEnd >= start else { return nil }
    var depth = 1
    for tag in tags.all[first(in: tags.all, from: start)...] {
      depth += tag.isEnd ? -1 : 1
      if depth == 0 || tag.place == tags.lastEnd { return tag.place }
    }
    return nil
  }

  /// The index of the first tag at `start` or behind it.
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
