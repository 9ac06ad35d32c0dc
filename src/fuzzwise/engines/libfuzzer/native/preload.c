/* The engine for a program that asks for libFuzzer at run time, as Python does through Atheris: in a
 * shared library that is loaded before everything else. The driver of the runtime has another name
 * in there, see build.py, and this one stands in for it. */
#define _GNU_SOURCE
#include "libfuzzer.h"

#include <dlfcn.h>
#include <string.h>

int fuzzwise_real_driver(int *argc, char ***argv, fw_input_type one_input);
int LLVMFuzzerRunDriver(int *argc, char ***argv, fw_input_type one_input);
void fuzzwise_failed(void);

/* Called by a target whose input has shown a bug that is not the end of the process. */
void fuzzwise_failed(void) { fw_failed = 1; }

/* From the beginning: a target may hang while it is loaded, before it asks for the driver. */
__attribute__((constructor)) static void loaded(void) {
  fw_die_with_supervisor();
}

int LLVMFuzzerRunDriver(int *argc, char ***argv, fw_input_type one_input) {
  /* Loaded after this library, so that no weak reference of ours could find it. */
  void *found = dlsym(RTLD_DEFAULT, "LLVMFuzzerCustomMutator");
  memcpy(&fw_mutator, &found, sizeof found);
  return fw_drive(fuzzwise_real_driver, argc, argv, one_input);
}
