/* last_settings.h - settings.yaml, or what it said when it was last right.
 *
 * A slip of a person's hand in that file must not stop what ends machines. Each program that may write keeps a copy of a file it
 * could use; when the file cannot be used, that copy is taken, and it is said.
 */
#ifndef SE_APPLY_LAST_SETTINGS_H
#define SE_APPLY_LAST_SETTINGS_H

#include <stdbool.h>

struct err;
struct settings;

#define LAST_SETTINGS_PATH PKGSTATEDIR "/settings.last.yaml"

/* Caller settings_destroy()s. keep: copy a file that is right. trouble (text[0] = 0 if there is none): the first error of a file
 * that cannot be used, all of them are logged. NULL with e if there is no copy either. */
struct settings *last_settings_load(bool keep, struct err *trouble, struct err *e);

#endif
