/* Moments in the form 2024-02-29T12:34:56Z or with +01:00, as seconds since 1970 and back; no known
 * bug. The calendar is the Gregorian one, of the years 1 to 9999. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct moment {
  int year, month, day, hour, minute, second, offset;
};

static int is_leap(int year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

static int days_of(int year, int month) {
  static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return days[month - 1] + (month == 2 && is_leap(year));
}

/* A number of so many digits within bounds; 0 where there is none. */
static int number(const uint8_t **at, const uint8_t *end, int digits, int low, int high, int *out) {
  int value = 0;
  if (end - *at < digits) return 0;
  for (int i = 0; i < digits; i++) {
    uint8_t digit = *(*at)++;
    if (digit < '0' || digit > '9') return 0;
    value = value * 10 + (digit - '0');
  }
  *out = value;
  return value >= low && value <= high;
}

static int sign(const uint8_t **at, const uint8_t *end, uint8_t wanted) {
  if (*at == end || **at != wanted) return 0;
  ++*at;
  return 1;
}

static int zone(const uint8_t **at, const uint8_t *end, int *offset) {
  int hours, minutes;
  *offset = 0;
  if (sign(at, end, 'Z')) return 1;
  int east = sign(at, end, '+');
  if (!east && !sign(at, end, '-')) return 0;
  if (!number(at, end, 2, 0, 23, &hours) || !sign(at, end, ':')) return 0;
  if (!number(at, end, 2, 0, 59, &minutes)) return 0;
  *offset = (east ? 1 : -1) * (hours * 60 + minutes);
  return 1;
}

static int parse(const uint8_t *at, const uint8_t *end, struct moment *m) {
  if (!number(&at, end, 4, 1, 9999, &m->year) || !sign(&at, end, '-')) return 0;
  if (!number(&at, end, 2, 1, 12, &m->month) || !sign(&at, end, '-')) return 0;
  if (!number(&at, end, 2, 1, days_of(m->year, m->month), &m->day)) return 0;
  if (!sign(&at, end, 'T') || !number(&at, end, 2, 0, 23, &m->hour)) return 0;
  if (!sign(&at, end, ':') || !number(&at, end, 2, 0, 59, &m->minute)) return 0;
  if (!sign(&at, end, ':') || !number(&at, end, 2, 0, 59, &m->second)) return 0;
  return zone(&at, end, &m->offset) && at == end;
}

static long days_before(long year) { return 365 * year + year / 4 - year / 100 + year / 400; }

static int64_t seconds(const struct moment *m) {
  long days = days_before(m->year - 1) - days_before(1969) + m->day - 1;
  for (int month = 1; month < m->month; month++) days += days_of(m->year, month);
  return (int64_t)days * 86400 + m->hour * 3600 + m->minute * 60 + m->second;
}

static void date_of(int64_t when, struct moment *m) {
  int64_t days = when / 86400 + days_before(1969);
  if (when % 86400 < 0) days--;
  m->year = (int)(days / 366) + 1;
  while (days >= days_before(m->year)) m->year++;
  int left = (int)(days - days_before(m->year - 1));
  for (m->month = 1; left >= days_of(m->year, m->month); m->month++)
    left -= days_of(m->year, m->month);
  m->day = left + 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct moment m, again;
  if (!parse(data, data + size, &m)) return 0;
  date_of(seconds(&m), &again);
  if (again.year != m.year || again.month != m.month || again.day != m.day) abort();
  return 0;
}
