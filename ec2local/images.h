/* images.h - the account's own machine images, named on the command line. */
#ifndef EC2LOCAL_IMAGES_H
#define EC2LOCAL_IMAGES_H

#include "ec2local/call.h"
#include "lib/base/str.h"

#include <stddef.h>

struct err;

struct image {
	char *id;
	char *arch;
	char *name;
	struct kvs tags;
};

/* Zero-initialised = empty. */
struct images {
	struct image *v;
	size_t n;
	size_t cap;
};

/* "ami-ID:SLURM-VERSION[:ARCH]"; an empty version = an image without the tag. */
int images_add(struct images *l, const char *spec, struct err *e);
struct image *images_find(const struct images *l, const char *id);
void images_free(struct images *l);

extern const struct action images_actions[];

#endif
