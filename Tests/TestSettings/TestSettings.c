#include "TestSettings.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static pid_t runner;

// `swift test` does not pass a SIGTERM on to the tests, which ignore SIGPIPE: without it, they would run to their end.
static void *endWithRunner(void *unused) {
  (void)unused;
  while (getppid() == runner) sleep(1);
  kill(getpgrp() == getpid() ? 0 : getpid(), SIGTERM);  // the group has the servers that the tests started
  return NULL;
}

__attribute__((constructor)) static void configureTests(void) {
  // Swift Testing starts all tests at once by default: thousands of sockets and more than a thousand threads, so tests
  // with time limits fail. It reads this limit from the environment only, so it is set before `main`.
  setenv("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH", "6", 0);
  runner = getppid();
  pthread_t thread;
  if (pthread_create(&thread, NULL, endWithRunner, NULL) == 0) pthread_detach(thread);
}
