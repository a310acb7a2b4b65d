/* ini.h - one value out of AWS's shared files, read as the AWS tools read them. Pure. */
#ifndef SE_AWS_INI_H
#define SE_AWS_INI_H

#include <stdbool.h>

/* Call on_key for each key of the section; a section may stand several times. Key in lower case; key and value are valid
 * only during the call. A line indented deeper than the key above belongs to that key: it is told as "above.key".
 * true = the section exists. */
bool ini_read(const char *text, bool (*is_section)(const char *name, const void *arg), const void *section_arg,
	      void (*on_key)(void *arg, const char *key, const char *value), void *arg);

#endif
