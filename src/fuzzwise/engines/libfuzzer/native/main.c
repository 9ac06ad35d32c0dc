/* The main of an observed target. */
#include "libfuzzer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerRunDriver(int *argc, char ***argv, fw_input_type one_input);

int main(int argc, char **argv) {
  return fw_drive(LLVMFuzzerRunDriver, &argc, &argv, LLVMFuzzerTestOneInput);
}
