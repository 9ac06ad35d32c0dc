// Preloaded into a warden: its server asks to be ended with it only once a file is there.
#include <dlfcn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

int prctl(int option, ...) {
  int (*next)(int, ...) = (int (*)(int, ...))dlsym((void *)-1L, "prctl");
  va_list rest;
  va_start(rest, option);
  unsigned long value = va_arg(rest, unsigned long);
  va_end(rest);
  const char *file = getenv("PRCTL_WAITS_FOR");
  while (option == PR_SET_PDEATHSIG && file && access(file, F_OK) != 0) usleep(10000);
  return next(option, value, 0, 0, 0);
}
