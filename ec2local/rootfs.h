/* rootfs.h - the file tree of a machine: a memory file system holding copies and read-only windows on the caller's own tree. */
#ifndef SE_EC2LOCAL_ROOTFS_H
#define SE_EC2LOCAL_ROOTFS_H

#include "lib/base/str.h"

struct err;

struct rootfs_spec {
	const char *size;   /* of the memory file system, as mount takes it: "256m" */
	struct strs images; /* folders: root/ is copied onto the new tree, local/ onto its /usr/local; file "binds" lists more
			     * binds, one "SRC:DST[:rw]" a line; each part may be missing */
	struct strs binds;  /* "SRC:DST[:rw]" */
	struct strs copies; /* "SRC:DST", a file, or a folder with all below it */
};

/* Build the tree and make it the root of this process's mount namespace (which must be its own). The caller is process 1 of a
 * new pid namespace. Nothing is left on the disk, whatever happens. */
int rootfs_enter(const struct rootfs_spec *s, struct err *e);

#endif
