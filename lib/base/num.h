/* num.h - the only text-to-number code: the whole text must be the number, nothing before or after it. */
#ifndef SE_BASE_NUM_H
#define SE_BASE_NUM_H

#include <stdint.h>

struct err;

/* Decimal integer, optional '-'. No blank, no '+', no leading zero beyond "0". -1 with e saying what would be right
 * ("\"10x\" is not a whole number", "0 is below the least value 1"); *out is written only on success. */
int num_i64(const char *text, int64_t min, int64_t max, int64_t *out, struct err *e);

/* Plain decimal number such as "0.05"; no exponent, no infinity. Locale does not matter. */
int num_double(const char *text, double min, double max, double *out, struct err *e);

/* YAML 1.1 booleans as ParallelCluster takes them: true/false, yes/no, on/off, t/f, y/n, 1/0, any usual case. */
int num_bool(const char *text, int *out, struct err *e);

/* Seconds from text: plain seconds or a number with s, m, h or d ("90", "2m", "1h"). */
int num_duration_s(const char *text, int64_t *out, struct err *e);

#endif
