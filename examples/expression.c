/* Evaluates lines such as 2 * (3 + max(4, 5)) - $0, with four bugs. Each is in a function of its own.
 *
 *   bug   function   what happens                          when                    how deep
 *   1     quotient   divides by zero                       7 / 30000               a number that ends in 0000
 *   2     argument   writes behind an array on the stack   max of over 24 numbers  a word, then a list
 *   3     choose     writes behind a table                 choose(5, 2), but 1 of  a word, then luck with two numbers
 *                                                          20,000 such pairs
 *   4     earlier    reads behind a heap block             $8 in the ninth line    eight right lines before it
 *
 * $0 is the result of the first line. Build it with -fsanitize=address. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define KEEP __attribute__((noinline))
enum { RESULTS = 8, ARGUMENTS = 24, DEPTH = 16, PAIRS = 20000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct reader {
  const char *at;
  int depth, wrong;
  long results[RESULTS];
  long count;
};

static uint8_t asked[PAIRS - 1];
static volatile long sink;

static long sum(struct reader *in);

/* In parts of ten thousand. */
static KEEP long quotient(long a, long b) { return b == 0 ? 0 : a / (b % 10000); }

static KEEP long earlier(const struct reader *in, long line) {
  long *copy = malloc(sizeof in->results);
  if (!copy || line > in->count) return free(copy), 0;
  memcpy(copy, in->results, sizeof in->results);
  long value = copy[line];
  free(copy);
  return value;
}

static KEEP void argument(long *list, int count, long value) { list[count] = value; }

/* The k-th number of a row of Pascal's triangle; the table of what was asked is one too short. */
static KEEP long choose(long row, long k) {
  uint32_t place = ((uint32_t)row * 0x9e3779b1u ^ (uint32_t)k) * 0x85ebca6bu >> 8;
  asked[place % PAIRS]++;
  long value = 1;
  for (long i = 1; i <= k && i <= 20; i++) value = value * (row % 1000 - k % 1000 + i) / i % 100000;
  return value;
}

static void skip(struct reader *in) {
  while (*in->at == ' ') in->at++;
}

static int take(struct reader *in, const char *word) {
  skip(in);
  size_t length = strlen(word);
  if (strncmp(in->at, word, length) != 0) return 0;
  in->at += length;
  return 1;
}

static long number(struct reader *in) {
  long value = 0;
  int digits = 0;
  for (; *in->at >= '0' && *in->at <= '9'; in->at++)
    if (digits++ < 9) value = value * 10 + (*in->at - '0');
  if (digits == 0) in->wrong = 1;
  return value;
}

static KEEP long list(struct reader *in, int picks) {
  long values[ARGUMENTS] = {0};
  int count = 0;
  do {
    argument(values, count++, sum(in));
  } while (!in->wrong && take(in, ","));
  if (!take(in, ")")) in->wrong = 1;
  if (picks) return in->wrong || count != 2 ? 0 : choose(values[0], values[1]);
  long most = values[0];
  for (int i = 1; i < count; i++)
    if (values[i] > most) most = values[i];
  return most;
}

static long factor(struct reader *in) {
  long value = 0;
  skip(in);
  if (++in->depth > DEPTH) {
    in->wrong = 1;
  } else if (take(in, "(")) {
    value = sum(in);
    if (!take(in, ")")) in->wrong = 1;
  } else if (take(in, "-")) {
    value = -factor(in);
  } else if (take(in, "$")) {
    if (*in->at >= '0' && *in->at <= '9') value = earlier(in, *in->at++ - '0');
    else in->wrong = 1;
  } else if (take(in, "max(")) {
    value = list(in, 0);
  } else if (take(in, "choose(")) {
    value = list(in, 1);
  } else {
    value = number(in);
  }
  in->depth--;
  return value % 1000000000;
}

static long product(struct reader *in) {
  long value = factor(in);
  while (!in->wrong) {
    if (take(in, "*")) {
      value = value * factor(in) % 1000000000;
    } else if (take(in, "/")) {
      long other = factor(in);
      if (!in->wrong) value = quotient(value, other);
    } else {
      break;
    }
  }
  return value;
}

static long sum(struct reader *in) {
  long value = product(in);
  while (!in->wrong) {
    if (take(in, "+")) value += product(in);
    else if (take(in, "-")) value -= product(in);
    else break;
  }
  return value;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char text[64];
  struct reader in = {.at = text};
  if (size >= sizeof text) return 0;
  memcpy(text, data, size);
  text[size] = 0;
  do {
    long value = sum(&in);
    if (!in.wrong && in.count < RESULTS) in.results[in.count++] = value;
    sink += value;
  } while (!in.wrong && take(&in, "\n"));
  return 0;
}
