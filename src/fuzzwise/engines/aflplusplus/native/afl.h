/* The observer of AFL++: a custom mutator library that mutates nothing and counts every input, in
 * the same memory-mapped files as that of libFuzzer (../../observer/native/observer.h). */
#ifndef FUZZWISE_AFL_H
#define FUZZWISE_AFL_H

#include "shown.h"

/* What the bytes of the map are: hit counts as the target left them, or AFL++'s classes of them,
 * which it writes over the counts of a run that it keeps, or has calibrated. */
enum afl_bytes { AFL_COUNTS, AFL_CLASSES };

/* map.c */
void afl_open_map(uint64_t size);
void afl_attach(void);
int afl_is_simplified(void);
enum afl_bytes afl_bytes_of_run(void);
int afl_read(enum fw_listing which, enum afl_bytes bytes);
void afl_forget_unseen(void);

/* entries.c */
void afl_open_entries(const char *folder);
uint64_t afl_seed_of(const char *entry);
void afl_name_seed(const char *entry, uint64_t seed);
uint8_t *afl_load(const char *path, size_t *size);

#endif
