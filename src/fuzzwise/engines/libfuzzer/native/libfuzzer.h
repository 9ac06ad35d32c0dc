/* The observer of libFuzzer: the coverage counters of its targets, and how it is started by us. */
#ifndef FUZZWISE_LIBFUZZER_H
#define FUZZWISE_LIBFUZZER_H

#include "shown.h"

#define FW_PATHS ((uint64_t)1 << 22) /* that can be told apart, where they are the species */

struct fw_module {
  uint8_t *start, *stop;
  uint64_t first; /* feature of its first counter, in bucket 0 */
};

/* counters.c */
extern struct fw_module fw_modules[]; /* where the counters are */
extern unsigned fw_n_modules;
uint64_t fw_known_features(void);
void fw_open_counters(uint64_t features);
int fw_read_counters(enum fw_listing which, int hide);
void fw_restore_counters(void);
void fw_keep_path(void);
int fw_shows(uint64_t feature);

/* again.c */
extern int fw_again;           /* the running input runs another time */
extern uint64_t *fw_differing; /* edges that the last two runs of an input showed otherwise, and */
extern size_t fw_n_differing;  /* that nobody knew to be unstable */
extern int fw_differed;        /* whether there was any difference */
extern int fw_first_sight;     /* whether the input was the first to show one of those edges */
void fw_open_again(uint64_t counters, int argc, char **argv);
void fw_time_run(void);
int fw_may_run_again(void);
int fw_same_again(const uint8_t *data, size_t size, int is_first);
void fw_clear_counters(void);

/* lengths.c */
void fw_open_lengths(void);
size_t fw_longest(uint64_t t, size_t max_size, uint64_t random);

/* reports.c */
void fw_keep_reports(void);
void fw_save_reports(void);

/* observer.c */
typedef int (*fw_input_type)(const uint8_t *data, size_t size);
typedef int (*fw_driver_type)(int *argc, char ***argv, fw_input_type one_input);
typedef size_t (*fw_mutator_type)(uint8_t *data, size_t size, size_t max_size, unsigned int seed);
extern fw_mutator_type fw_mutator;
extern int fw_failed; /* the running input has shown a bug, and the target goes on */
int fw_run_target(const uint8_t *data, size_t size);
int fw_drive(fw_driver_type driver, int *argc, char ***argv, fw_input_type one);

#endif
