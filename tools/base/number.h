/* number.h - parses and prints numbers as people type and read them, in every locale.
 *
 * Parsers read the whole text: no white space, no sign, nothing after the number.  An error text
 * is the end of a sentence, "takes a whole number ..., not '1 k'"; the caller puts the subject in
 * front ("--capacity").  They return DEJA_OK, or DEJA_EINVAL without changing *value.
 *
 * Formatters return the text by value: printf("%s lines\n", num_count(n).s). */
#ifndef TOOLS_BASE_NUMBER_H
#define TOOLS_BASE_NUMBER_H
#include "deja.h"

/* 250000, 1.5M, 1e6, 18446744073709551615: k, M, G, T, P are powers of 1000.  The value must be a
 * whole number of at most 64 bits. */
int num_parse_count(const char *text, uint64_t *value, deja_error *err);
/* Parses bytes: 1.5G, 512M, 64KiB, 33.6MB.  k, M, G, T, P and KiB, ... are powers of 1024, as for
 * memory; kB, MB, ... are powers of 1000, as deja prints them.  The value is rounded down to a
 * byte. */
int num_parse_size(const char *text, uint64_t *value, deja_error *err);
/* Seconds: 90, 30s, 15m, 6h, 1.5d, 2w.  The value must be a whole number. */
int num_parse_duration(const char *text, uint64_t *value, deja_error *err);
/* Whole days: 30d, 4w, 6mo (30 days each), 1y (365), or a number alone.  Not 6m: that is minutes
 * elsewhere. */
int num_parse_days(const char *text, uint64_t *days, deja_error *err);
/* A double above 0 and below 1, even after rounding. */
int num_parse_rate(const char *text, double *value, deja_error *err);
/* A finite double above 0. */
int num_parse_real(const char *text, double *value, deja_error *err);
/* Seconds, 0 or more: 1.5, 500ms, 10min, 6h, 1d; rounded down to a microsecond. */
int num_parse_seconds(const char *text, double *seconds, deja_error *err);
/* One byte: itself, or one of \t \n \r \0 \\ \xHH. */
int num_parse_char(const char *text, char *value, deja_error *err);

/* Permissions in octal: 640, 0640; at least one bit, at most 777. */
int num_parse_mode(const char *text, uint32_t *value, deja_error *err);

struct num_text {
    char s[48];
};
struct num_text num_count(uint64_t n);                 /* 4,994,910                             */
struct num_text num_short(uint64_t n);                 /* 999  1.2 k  12.3 M  123 G             */
struct num_text num_of(uint64_t n, const char *thing); /* 1 key; 4,994,910 keys          */
struct num_text num_lines(uint64_t n);                 /* 1 line; 4,994,910 lines               */
const char *num_plural(uint64_t n);                    /* "" or "s"                             */
struct num_text num_estimate(double x);                /* 2.0e-5  0.3  12  4,994,910  unknown   */
struct num_text num_bytes(uint64_t bytes);             /* 512 B  33.6 MB: MB is 10^6 bytes      */
struct num_text num_rate(double p);                    /* 0.0096  1.0e-6  0                     */
struct num_text num_share(double share);               /* 0.123 is 12.3%                        */
struct num_text num_duration(double seconds);          /* 0.31 s  2 min 3 s  4 h 12 min         */
struct num_text num_day(uint64_t day);                 /* 2026-11-18: days since 1970, UTC       */
struct num_text num_took(double seconds);              /* 0.6 ms  5 ms  310 ms  1.2 s  2 min 3 s */
struct num_text num_speed(double per_second);          /* 23.1 M/s                              */
struct num_text num_fixed(double x, int decimals);     /* 9.58: for columns of a table          */
struct num_text num_exact(double x);                   /* shortest text that reads back equal   */
struct num_text num_typed(double x);                   /* num_exact as people type it: 1e-6     */
/* As people type it, with a unit of step, step^2, ..: 1500k is 1500000 (1000), 2G 2147483648 (1024). */
struct num_text num_scaled(uint64_t value, unsigned step);

#endif
