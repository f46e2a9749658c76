#if os(Linux)
  import CCurl
  import Testing

  @testable import Errand

  @Suite struct DecodingLimitsTests {
    @Test func `what libcurl could not hold for a waiting reader is a body that is too large`() {
      let error = DecodingLimits.failure(CCE_OUT_OF_MEMORY, .receiving)
      #expect(error?.code == .bodyTooLarge && error?.isRetryable == false)
    }

    @Test func `other ends are none of its business`() {
      #expect(DecodingLimits.failure(CCE_OUT_OF_MEMORY, .connecting) == nil)
      #expect(DecodingLimits.failure(CCE_RECV_ERROR, .receiving) == nil)
      #expect(DecodingLimits.failure(CCE_OK, .receiving) == nil)
    }
  }
#endif
