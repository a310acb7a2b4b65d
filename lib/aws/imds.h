/* imds.h - the instance metadata service, version 2: what this machine is. Never through a proxy. */
#ifndef SE_AWS_IMDS_H
#define SE_AWS_IMDS_H

struct buf;
struct err;

struct imds;

/* endpoint NULL = http://169.254.169.254. No request is made yet. */
struct imds *imds_create(const char *endpoint);
void imds_destroy(struct imds *i); /* takes NULL */
/* The address it was made for; borrowed. */
const char *imds_endpoint(const struct imds *i);
/* GET /latest/<path> with a token (fetched and renewed here), time-out 1 s, 2 tries. 1 found, 0 not found (404), -1 no
 * IMDS here. */
int imds_get(struct imds *i, const char *path, struct buf *out, struct err *e);

#endif
