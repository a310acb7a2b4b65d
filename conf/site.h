/* site.h - the site's own slurm.conf as a list of keys with their places, the files it includes with it.
 *
 * Our own include file and our own marked block are left out: what remains is what the site said. Reading follows Slurm's
 * grammar (any case, several pairs a line, '#' comments, a final backslash continues a line); it judges nothing.
 */
#ifndef SE_CONF_SITE_H
#define SE_CONF_SITE_H

#include <stdbool.h>
#include <stddef.h>

struct err;

/* Our file beside slurm.conf, and the marks around what we put into files of the site. */
#define SITE_INCLUDE "slurm-ec2.conf"
#define SITE_GRES_INCLUDE "slurm-ec2-gres.conf"
#define SITE_BEGIN "# BEGIN slurm-ec2"
#define SITE_END "# END slurm-ec2"
#define SITE_OPEN_LINE "; the line above had no end" /* on the line of SITE_BEGIN */
#define SITE_ADDED "# slurm-ec2 added to the next line: "

struct site_file {
	char *path;
	char *text;
};

struct site_key {
	size_t file;   /* index into site->file */
	int line;      /* from 1 */
	size_t record; /* pairs of one line have one number, unique in the site */
	bool first;    /* first pair of its line: NodeName, PartitionName ... */
	char *name;
	char *value;	 /* quotes removed */
	size_t off, len; /* the value's span in the file's text */
};

struct site {
	struct site_file *file;
	size_t n_files, cap_files;
	struct site_key *key;
	size_t n_keys, cap_keys;
	size_t n_records;
};

/* slurm.conf and all it includes (by absolute path, or relative to its folder; %c is not followed). -1 with e if slurm.conf
 * cannot be read or an included file cannot. */
int site_load(struct site *s, const char *path, struct err *e);
/* One text, includes not followed. -1 on no memory. */
int site_add(struct site *s, const char *path, const char *text);
void site_clear(struct site *s);

/* The last plain (not in a NodeName, PartitionName, ... line) key of that name, any case: the one Slurm uses. NULL = not set.
 */
const struct site_key *site_find(const struct site *s, const char *name);
/* Pair `name` of the record `of` belongs to; NULL = absent. */
const struct site_key *site_in_record(const struct site *s, const struct site_key *of, const char *name);
/* True if the site has a node of its own. */
bool site_has_nodes(const struct site *s);
/* True if the key opens a NodeName, PartitionName, NodeSet, DownNodes or FrontendName line. */
bool site_opens_record(const struct site_key *k);
const char *site_path(const struct site *s, const struct site_key *k);

#endif
