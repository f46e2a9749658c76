import Foundation
import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct RecordingIndexTests {
  private static let start = Date(timeIntervalSince1970: 1_700_000_000)

  private func entry(_ number: Int, bytes: Int = 100, minutes: Double = 0) -> RecordingEntry {
    RecordingEntry(
      task: "Get/Widget", tag: nil, comment: nil, method: "GET", url: "https://shop.test/a", status: 200,
      outcome: "succeeded", startedAt: (Self.start + minutes * 60).formatted(RecordingEntry.dateFormat), seconds: 0.25,
      attempts: 1
    ).numbered(number, name: "GET Widget", bytes: bytes)
  }

  private func index(_ entries: RecordingEntry...) -> RecordingIndex {
    var index = RecordingIndex()
    for entry in entries { index.append(entry) }
    return index
  }

  @Test func `an index has one line per recording and can be read back`() throws {
    let written = index(entry(1), entry(2), entry(12345))
    #expect(RecordingIndex(written.data).entries == written.entries)
    #expect(written.data.split(separator: UInt8(ascii: "\n")).count == 5)
    #expect(RecordingIndex(RecordingIndex().data).entries.isEmpty)
    #expect(written.entries.map(\.file) == ["0001. GET Widget.txt", "0002. GET Widget.txt", "12345. GET Widget.txt"])
    let array = try #require(try JSONSerialization.jsonObject(with: written.data) as? [[String: Any]])
    #expect(array[1]["number"] as? Int == 2 && array[1]["url"] as? String == "https://shop.test/a")
  }

  @Test func `treats an invalid index as empty`() {
    for text in ["", "[", "{}", "[{\"number\":1}]"] { #expect(RecordingIndex(Data(text.utf8)).entries.isEmpty) }
  }

  @Test func `selects the oldest recordings by count, size and age, but never the newest`() {
    let index = index(
      entry(1, bytes: 10, minutes: 0), entry(2, bytes: 200, minutes: 10), entry(3, bytes: 30, minutes: 20),
      entry(4, bytes: 4000, minutes: 30))
    func surplus(_ limits: RecordingLimits, minutes: Double = 30) -> [Int] {
      index.surplus(limits, at: Self.start + minutes * 60).map(\.number)
    }
    #expect(surplus(.unlimited, minutes: 1e6) == [])
    #expect(surplus(RecordingLimits(count: 4, bytes: 0)) == [])
    #expect(surplus(RecordingLimits(count: 2, bytes: 0)) == [1, 2])
    #expect(surplus(RecordingLimits(count: 0, bytes: 4240)) == [])
    #expect(surplus(RecordingLimits(count: 0, bytes: 4239)) == [1])
    #expect(surplus(RecordingLimits(count: 0, bytes: 4030)) == [1, 2])
    #expect(surplus(RecordingLimits(count: 0, bytes: 1)) == [1, 2, 3])
    #expect(surplus(RecordingLimits(count: 0, age: .seconds(15 * 60), bytes: 0)) == [1, 2])
    #expect(surplus(RecordingLimits(count: 0, age: .seconds(1), bytes: 0), minutes: 1e6) == [1, 2, 3])
  }

  @Test func `a removed entry is no longer written`() {
    var index = index(entry(1), entry(2), entry(3))
    index.remove { $0.number == 2 }
    #expect(index.entries.map(\.number) == [1, 3])
    #expect(RecordingIndex(index.data).entries == index.entries)
  }
}
