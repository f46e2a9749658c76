#include "TestSettings.h"

#include <stdlib.h>

// Swift Testing starts all tests at once by default: thousands of sockets and more than a thousand threads, so tests
// with time limits fail. It reads this limit from the environment only, so it is set before `main`.
__attribute__((constructor)) static void limitConcurrentTests(void) {
  setenv("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH", "6", 0);
}
