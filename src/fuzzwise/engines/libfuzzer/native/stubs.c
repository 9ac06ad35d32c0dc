/* Empty coverage hooks for instrumented programs that are linked without a fuzzing engine. */
#include <stddef.h>
#include <stdint.h>

#define HOOK(name, ...) \
  __attribute__((weak)) void name(__VA_ARGS__); \
  __attribute__((weak)) void name(__VA_ARGS__) {}

#pragma GCC diagnostic ignored "-Wunused-parameter"

HOOK(__sanitizer_cov_8bit_counters_init, uint8_t *start, uint8_t *stop)
HOOK(__sanitizer_cov_pcs_init, const uintptr_t *start, const uintptr_t *stop)
HOOK(__sanitizer_cov_trace_pc_indir, uintptr_t callee)
HOOK(__sanitizer_cov_trace_cmp1, uint8_t a, uint8_t b)
HOOK(__sanitizer_cov_trace_cmp2, uint16_t a, uint16_t b)
HOOK(__sanitizer_cov_trace_cmp4, uint32_t a, uint32_t b)
HOOK(__sanitizer_cov_trace_cmp8, uint64_t a, uint64_t b)
HOOK(__sanitizer_cov_trace_const_cmp1, uint8_t a, uint8_t b)
HOOK(__sanitizer_cov_trace_const_cmp2, uint16_t a, uint16_t b)
HOOK(__sanitizer_cov_trace_const_cmp4, uint32_t a, uint32_t b)
HOOK(__sanitizer_cov_trace_const_cmp8, uint64_t a, uint64_t b)
HOOK(__sanitizer_cov_trace_switch, uint64_t value, void *cases)
HOOK(__sanitizer_cov_trace_div4, uint32_t value)
HOOK(__sanitizer_cov_trace_div8, uint64_t value)
HOOK(__sanitizer_cov_trace_gep, uintptr_t index)

extern __thread uintptr_t __sancov_lowest_stack;
__attribute__((weak)) __thread uintptr_t __sancov_lowest_stack;
