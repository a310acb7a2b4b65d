/* problem.h - every problem of an input, collected with its place, shown all at once. */
#ifndef SE_BASE_PROBLEM_H
#define SE_BASE_PROBLEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct json_object;

enum problem_level { PROBLEM_ERROR, PROBLEM_WARNING };

struct problem {
	enum problem_level level;
	char *file;   /* NULL if it has no place */
	int line;     /* from 1; 0 = unknown */
	int column;   /* from 1; 0 = unknown */
	char *key;    /* dotted path such as Scheduling.SlurmQueues[queue1].Name, or NULL */
	char *text;   /* what is wrong and what would be right */
	size_t order; /* how many were added before it: keeps the sort stable */
};

/* Zero-initialised = empty. */
struct problems {
	struct problem *v;
	size_t n;
	size_t cap;
	bool nomem; /* a problem could not be stored: treat as an error */
};

void problems_add(struct problems *p, enum problem_level level, const char *file, int line, int column, const char *key,
		  const char *fmt, ...) __attribute__((format(printf, 7, 8)));
size_t problems_count(const struct problems *p, enum problem_level level);
/* Sort by file, line, column; stable. */
void problems_sort(struct problems *p);
/* "file:line:column: error: key: text", one a line. */
void problems_print(const struct problems *p, FILE *out);
/* Array of {level, file, line, column, key, message}; caller json_object_put()s. NULL on no memory. */
struct json_object *problems_json(const struct problems *p);
void problems_clear(struct problems *p);

#endif
