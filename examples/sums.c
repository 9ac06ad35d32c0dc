/* A calculator that reads a text file, with nine bugs. Each bug is in a function of its own, and
 * most can be reached at any depth of brackets.
 *
 *   sums FILE        FILE has one statement a line: NAME = SUM, show SUM, drop NAME, mark SUM
 *
 *   bug   function    what happens                                 when
 *   1     divide      divides by zero                              SUM / 0
 *   2     variable    dereferences null                            a variable that has no value
 *   3     variable    calls itself without end                     a = b, b = a
 *   4     number      writes behind an array on the stack          a number of over 40 digits
 *   5     pick        reads before a table                         [SUM] with SUM far below 0
 *   6     mark        writes 2 MiB or more behind a heap block     mark 256 … 271, 512 … 527, …
 *   7     shift       aborts (assertion)                           SUM ^ n with n over 31 or below 0
 *   8     drop        frees a variable twice                       drop x, drop x
 *   9     recall      uses a variable after it was freed           drop x, show @x
 *
 * Variables are computed when they are used. Build it with -fstack-protector-strong, so that bug 4
 * is noticed where it happens. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEEP __attribute__((noinline))
enum { ROW = 8192, ROWS = 15, NAMES = 6, LINE = 200 };

struct cell {
  const char *kind;
  char text[LINE];
};

static struct cell *cells[NAMES];
static unsigned char *marks;
static char dropped[NAMES];
static const long table[8][512] = {{1}, {1}, {2}, {3}, {5}, {8}, {13}, {21}};
static volatile long sink;

static long sum(const char **at);

static void skip(const char **at) {
  while (**at == ' ') ++*at;
}

static int name_of(char letter) { return letter >= 'a' && letter < 'a' + NAMES ? letter - 'a' : -1; }

static KEEP long number(const char **at) {
  char digits[40];
  int length = 0;
  while (**at >= '0' && **at <= '9') digits[length++] = *(*at)++;
  long value = 0;
  for (int i = 0; i < length && i < 15; i++) value = value * 10 + (digits[i] - '0');
  return value;
}

static KEEP long variable(int name) {
  if (dropped[name] || cells[name]->kind[0] != 's') return 0;
  const char *text = cells[name]->text;
  long value = sum(&text);
  sink += value;
  return value;
}

static KEEP long recall(int name) {
  return cells[name] ? cells[name]->kind[0] : 0;
}

static KEEP long pick(long index) {
  if (index > 7 || index < -100000000) return 0;
  return table[index][0];
}

static KEEP long divide(long a, long b) { return a / b; }

static KEEP long shift(long value, long by) {
  assert(by >= 0 && by < 32);
  return value << by;
}

static KEEP long factor(const char **at) {
  long value = 0;
  skip(at);
  char c = **at;
  if (c >= '0' && c <= '9') {
    value = number(at);
  } else if (c == '(' || c == '[') {
    ++*at;
    value = sum(at);
    skip(at);
    if (**at == ')' || **at == ']') ++*at;
    if (c == '[') value = pick(value);
  } else if (c == '-') {
    ++*at;
    skip(at);
    value = **at >= '0' && **at <= '9' ? -number(at) : 0;
  } else if (c == '@') {
    ++*at;
    if (name_of(**at) >= 0) value = recall(name_of(*(*at)++));
  } else if (name_of(c) >= 0) {
    ++*at;
    value = variable(name_of(c));
  }
  sink += value;
  return value;
}

static KEEP long product(const char **at) {
  long value = factor(at);
  for (skip(at); **at == '*' || **at == '/' || **at == '^'; skip(at)) {
    char sign = *(*at)++;
    long other = factor(at);
    if (sign == '*') value = (long)((unsigned long)value * (unsigned long)other);
    if (sign == '/') value = divide(value, other);
    if (sign == '^') value = shift(value, other);
  }
  return value;
}

static KEEP long sum(const char **at) {
  long value = product(at);
  for (skip(at); **at == '+' || **at == '-'; skip(at)) {
    int minus = *(*at)++ == '-';
    unsigned long other = (unsigned long)product(at);
    value = (long)((unsigned long)value + (minus ? 0 - other : other));
  }
  return value;
}

static KEEP void mark(long row) {
  if ((unsigned char)row >= ROWS || row < 0 || row > 1000000) return;
  marks[row * ROW] = 1;
}

static KEEP void drop(int name) {
  free(cells[name]);
  dropped[name] = 1;
}

static KEEP void keep(int name, const char *text) {
  struct cell *made = malloc(sizeof *made);
  if (!made) exit(1);
  made->kind = "sum";
  strncpy(made->text, text, LINE - 1);
  made->text[LINE - 1] = 0;
  cells[name] = made;
  dropped[name] = 0;
}

static KEEP void statement(const char *line) {
  int name = name_of(line[0]);
  if (strncmp(line, "show ", 5) == 0) {
    line += 5;
    sink += sum(&line);
  } else if (strncmp(line, "drop ", 5) == 0 && name_of(line[5]) >= 0) {
    drop(name_of(line[5]));
  } else if (strncmp(line, "mark ", 5) == 0) {
    line += 5;
    mark(sum(&line));
  } else if (name >= 0 && strncmp(line + 1, " = ", 3) == 0) {
    keep(name, line + 4);
  }
  sink += line[0];
}

int main(int argc, char **argv) {
  FILE *file = argc > 1 ? fopen(argv[1], "r") : stdin;
  char line[LINE];
  marks = calloc(ROWS, ROW);
  if (!file || !marks) return 1;
  for (int i = 0; i < 1000 && fgets(line, sizeof line, file); i++) statement(line);
  return 0;
}
