/* The features that a run showed, see shown.h. */
#include "shown.h"

#include <stdlib.h>

uint64_t *fw_shown;
size_t fw_n_shown;
uint8_t *fw_settled;

void fw_open_shown(uint64_t features) {
  fw_settled = calloc(features / FW_BUCKETS + 1, 1);
  fw_shown = calloc(features / FW_BUCKETS + 1, sizeof *fw_shown);
  if (!fw_settled || !fw_shown) fw_fail("out of memory", "features");
}

/* The buckets of all counts, as a table: no branch to mispredict on every counter of every run. In
 * edge and path mode all counts fall into one. */
void fw_fill_buckets(uint8_t *bucket_of) {
  for (unsigned count = 1; count < 256; count++)
    bucket_of[count] = fw_head->species_kind == FW_FEATURE ? (uint8_t)fw_bucket((uint8_t)count) : 0;
}
