/* SPDX-License-Identifier: GPL-2.0-or-later */
/* images.c - DescribeImages over the images of the command line. */
#include "ec2local/images.h"
#include "ec2local/cloud.h"
#include "ec2local/page.h"
#include "ec2local/xml.h"
#include "lib/base/err.h"

#include <stdlib.h>

static const char *const describe_params[] = {"ImageId.N",     "Owner.N",	   "ExecutableBy.N",
					      "Filter.N.Name", "Filter.N.Value.N", "IncludeDeprecated",
					      "MaxResults",    "NextToken",	   NULL};

static int fill(struct image *i, const struct strs *part)
{
	const char *arch = part->n == 3 ? part->v[2] : "x86_64";

	i->id = str_dup(part->v[0]);
	i->arch = str_dup(arch);
	i->name = str_fmt("slurm-%s-%s", part->n > 1 ? part->v[1] : "none", arch);
	if (!i->id || !i->arch || !i->name)
		return -1;
	return part->n > 1 ? kvs_add(&i->tags, "slurm-ec2:slurm-version", part->v[1]) : 0;
}

static void clear(struct image *i)
{
	free(i->id);
	free(i->arch);
	free(i->name);
	kvs_clear(&i->tags);
}

int images_add(struct images *l, const char *spec, struct err *e)
{
	struct strs part = {0};
	struct image fresh = {0};
	int rc = -1;

	if (strs_split(&part, spec, ':') < 0)
		return err_nomem(e);
	if (part.n < 1 || part.n > 3 || !str_prefix(part.v[0], "ami-"))
		err_set(e, "\"%s\" is not ami-ID:SLURM-VERSION[:ARCH]", spec);
	else if (fill(&fresh, &part) < 0 || mem_grow(&l->v, &l->cap, l->n + 1, sizeof(*l->v)) < 0)
		err_nomem(e);
	else
		rc = 0;
	if (rc == 0)
		l->v[l->n++] = fresh;
	else
		clear(&fresh);
	strs_clear(&part);
	return rc;
}

struct image *images_find(const struct images *l, const char *id)
{
	for (size_t i = 0; i < l->n; i++) {
		if (str_eq(l->v[i].id, id))
			return &l->v[i];
	}
	return NULL;
}

void images_free(struct images *l)
{
	for (size_t i = 0; i < l->n; i++)
		clear(&l->v[i]);
	free(l->v);
	*l = (struct images){0};
}

static bool matches(const struct filters *f, const struct image *i)
{
	for (size_t k = 0; k < f->n; k++) {
		bool decided, yes = filter_tags(&f->v[k], &i->tags, &decided);
		const char *name = f->v[k].name;

		if (!decided)
			yes = filter_has(&f->v[k], str_eq(name, "image-id")	  ? i->id
						   : str_eq(name, "architecture") ? i->arch
						   : str_eq(name, "state")	  ? "available"
										  : i->name);
		if (!yes)
			return false;
	}
	return true;
}

static void item(struct buf *b, const struct image *i)
{
	xml_open(b, "item");
	xml_text(b, "imageId", i->id);
	xml_text(b, "imageState", "available");
	xml_text(b, "imageOwnerId", CLOUD_ACCOUNT);
	xml_text(b, "creationDate", "2026-01-01T00:00:00.000Z");
	xml_bool(b, "isPublic", false);
	xml_text(b, "architecture", i->arch);
	xml_text(b, "imageType", "machine");
	xml_text(b, "name", i->name);
	xml_text(b, "rootDeviceType", "ebs");
	xml_text(b, "rootDeviceName", "/dev/xvda");
	buf_str(
	    b,
	    "<blockDeviceMapping><item><deviceName>/dev/xvda</deviceName><ebs><snapshotId>snap-0ec2000000000001a</snapshotId>"
	    "<volumeSize>8</volumeSize><deleteOnTermination>true</deleteOnTermination><volumeType>gp3</volumeType>"
	    "<encrypted>false</encrypted></ebs></item></blockDeviceMapping>");
	xml_text(b, "virtualizationType", "hvm");
	xml_text(b, "hypervisor", "xen");
	xml_bool(b, "enaSupport", true);
	xml_tags(b, &i->tags);
	xml_close(b, "item");
}

static int check_ids(struct call *c, const struct strs *ids)
{
	for (size_t i = 0; i < ids->n; i++) {
		if (!str_prefix(ids->v[i], "ami-"))
			return call_fail(c, 400, "InvalidAMIID.Malformed", "Invalid id: \"%.100s\"", ids->v[i]);
		if (!images_find(&c->cloud->images, ids->v[i]))
			return call_fail(c, 400, "InvalidAMIID.NotFound", "The image id '[%.100s]' does not exist", ids->v[i]);
	}
	return 0;
}

/* All images here are the account's own: other owners have none. */
static bool owner_fits(const struct strs *owners)
{
	return !owners->n || strs_has(owners, "self") || strs_has(owners, CLOUD_ACCOUNT);
}

static int describe(struct call *c)
{
	static const char *const known[] = {"image-id", "architecture", "state", "name", NULL};
	struct images *l = &c->cloud->images;
	struct strs ids = {0}, owners = {0};
	struct filters f = {0};
	struct page page;
	int rc = -1;

	if (page_read(c, &page, 1, 1000, "ImageId") < 0 || filters_read(c, &f, known) < 0 ||
	    params_list(&c->params, "ImageId", &ids) < 0 || params_list(&c->params, "Owner", &owners) < 0 ||
	    check_ids(c, &ids) < 0 || call_dry_run(c) < 0)
		goto out;
	xml_open(&c->out, "imagesSet");
	for (size_t i = page.after; i < l->n; i++) {
		if ((ids.n && !strs_has(&ids, l->v[i].id)) || !owner_fits(&owners) || !matches(&f, &l->v[i]))
			continue;
		if (!page_take(&page, i + 1))
			break;
		item(&c->out, &l->v[i]);
	}
	xml_close(&c->out, "imagesSet");
	page_end(&page, &c->out);
	rc = 0;
out:
	filters_free(&f);
	strs_clear(&ids);
	strs_clear(&owners);
	return rc;
}

const struct action images_actions[] = {
    {"DescribeImages", describe, describe_params, false, NULL},
    {NULL, NULL, NULL, false, NULL},
};
