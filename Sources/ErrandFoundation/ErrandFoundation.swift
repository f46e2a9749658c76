// Foundation and the C library under one name. On Linux, this is FoundationEssentials: Foundation itself loads ICU,
// which is half of the memory of a process at start.
#if canImport(FoundationEssentials)
  @_exported public import FoundationEssentials

  #if canImport(Musl)
    @_exported public import Musl
  #elseif canImport(Glibc)
    @_exported public import Glibc
  #endif
#else
  @_exported public import Foundation
#endif
