/* members.h - the members of the two launch requests, as the API names them and as they go over the wire. For lib/aws only. */
#ifndef SE_AWS_MEMBERS_H
#define SE_AWS_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>

struct member {
	const char *name, *wire, *shape; /* texts of the table, not ended by NUL */
	size_t n_name, n_wire, n_shape;  /* n_shape 0 = a plain value */
	bool list;
};

/* The member of a structure ("RunInstances", "CreateFleet", or a `shape` found before). false = it has none of that name. */
bool member_find(const char *structure, size_t n_structure, const char *name, struct member *out);

#endif
