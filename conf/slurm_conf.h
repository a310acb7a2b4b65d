/* slurm_conf.h - our lines in the site's own slurm.conf and gres.conf: put in, taken out. Pure text to text.
 *
 * In slurm.conf: a marked block at the end with `Include slurm-ec2.conf` (relative, so that configless nodes get it too), and
 * values added to comma lists the site has, each under a comment line that says which; so taking out needs no memory of ours,
 * and what an administrator changed meanwhile stays.
 */
#ifndef SE_CONF_SLURM_CONF_H
#define SE_CONF_SLURM_CONF_H

#include "lib/base/str.h"

struct err;
struct problems;

/* The site's slurm.conf with our block and merged values. `text` may carry ours already: the result is the same. A key of
 * `merged` that stands in an included file only must have our values there already, else it is a problem with file and line
 * (site_load's view is given for that). Caller frees; NULL if p got an error or there is no memory. */
struct site;
char *slurmconf_merge(const struct site *site, const struct kvs *merged, struct problems *p);
/* Are the marks of our block in pairs, with only our own line (blank ones aside) between them? Else a problem of `path`
 * for each place, with its remedy: what stands there may be the site's, and is neither taken out nor overlooked. */
void slurmconf_check_marks(const char *path, const char *text, struct problems *p);
/* Without anything of ours; lines that are not ours stay, wherever they stand. Caller frees; NULL on no memory. */
char *slurmconf_unmerge(const char *text);
/* The same for gres.conf: text NULL = there is none yet. "" as the result of unmerge means that the file was ours alone. */
char *gres_conf_merge(const char *text);

/* The values of comma list `want` that comma list `have` lacks, by name (what stands before '='), brackets respected: what the
 * site set to another value stays the site's. Caller frees; "" = nothing; NULL on no memory. */
char *comma_list_missing(const char *have, const char *want);

#endif
