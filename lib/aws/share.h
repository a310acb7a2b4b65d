/* share.h - small files in a folder of ours, by which concurrent programs of one user share keys and rate limits.
 *
 * Sharing is a favour, never a need: whatever is wrong with the folder or a file, the caller goes on alone, so nothing here
 * fills an err.
 */
#ifndef SE_AWS_SHARE_H
#define SE_AWS_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The file "<dir>/<kind>-<hash of parts>", a NULL part being other than an empty one; no part can be told from it. NULL on no
 * memory. Caller frees. */
char *share_path(const char *dir, const char *kind, const char *const *parts, size_t n);
/* Open a file of the folder. make: it is made (0600) if it is missing, the folder too (0700) if its parent is ours. -1 unless
 * folder and file are this user's and closed to all others. Caller closes. */
int share_open(const char *path, bool make);
/* Take the file's lock, waiting at most limit_ms; it is given back by share_unlock or by closing. -1 = not taken. */
int share_lock(int fd, int64_t limit_ms);
void share_unlock(int fd);

#endif
