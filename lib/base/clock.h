/* clock.h - time and chance, the two things pure code takes as arguments. */
#ifndef SE_BASE_CLOCK_H
#define SE_BASE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

struct err;

int64_t clock_wall_ms(void); /* milliseconds since 1970 UTC */
int64_t clock_mono_ms(void); /* never goes back; for deadlines */
void clock_sleep_ms(int64_t ms);
/* "2026-11-30T16:50:27.023Z" into out[25]. */
void clock_iso(int64_t wall_ms, char out[25]);
/* "16:50 UTC", or "2026-11-30 16:50 UTC" if that is more than half a day away from now_ms. Seconds are cut off. */
#define CLOCK_MINUTE 21
void clock_minute(int64_t wall_ms, int64_t now_ms, char out[CLOCK_MINUTE]);
/* "2026-11-30T16:50:27.000Z" or without fraction to milliseconds; -1 if it is not such a time. */
int clock_iso_parse(const char *text, int64_t *wall_ms);

/* n/2 random bytes as n lower-case hex digits and a NUL; n even. From getrandom; aborts only if the kernel has none. */
void rand_hex(char *out, size_t n);
/* A version 4 UUID, 36 characters and NUL. */
void rand_uuid(char out[37]);
/* Uniform in [0, 1). */
double rand_unit(void);

#endif
