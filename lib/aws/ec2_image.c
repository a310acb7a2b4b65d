/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ec2_image.c - DescribeImages: bodies and reader. Called by apply to judge and to find images. */
#include "lib/aws/call.h"
#include "lib/aws/page.h"
#include "lib/aws/query.h"

#include "lib/base/num.h"

#include <stddef.h>

#define MAX_GIB (1024 * 1024) /* far above EBS's largest volume */

struct image_page {
	struct ec2_images list;
	struct kvs sizes;  /* device name and size of this image's volumes: the root device's name may come after them */
	char *device;      /* of the mapping being read */
	struct page_tag tag;
};

static void images_clear(struct ec2_images *l)
{
	for (size_t i = 0; i < l->n; i++) {
		struct ec2_image *m = &l->v[i];

		free(m->id);
		free(m->name);
		free(m->arch);
		free(m->state);
		free(m->root_device);
		free(m->slurm_version);
		free(m->creation);
	}
	free(l->v);
	*l = (struct ec2_images){0};
}

PAGE_CREATE(image, struct image_page)
PAGE_CURRENT(image, struct image_page)
PAGE_OPEN(image, struct image_page)
PAGE_MERGE(image, struct image_page)

static void image_destroy(void *page)
{
	struct image_page *p = page;

	if (!p)
		return;
	images_clear(&p->list);
	kvs_clear(&p->sizes);
	free(p->device);
	page_tag_clear(&p->tag);
	free(p);
}

static int mapping_device(void *page, const char *text)
{
	return page_replace(&((struct image_page *)page)->device, text);
}

static int mapping_size(void *page, const char *text)
{
	struct image_page *p = page;

	return p->device ? kvs_add(&p->sizes, p->device, text) : 0;
}

static int take_tag(void *item, const char *key, const char *value)
{
	struct ec2_image *m = item;

	return strcmp(key, TAG_SLURM_VERSION) ? 0 : page_replace(&m->slurm_version, value);
}

PAGE_TAG_CALLS(image, struct image_page, take_tag)

static int image_close(void *page, const char *text)
{
	struct image_page *p = page;
	struct ec2_image *m = image_current(page);
	const char *size = m->root_device ? kvs_get(&p->sizes, m->root_device) : NULL;

	(void)text;
	if (size && num_i64(size, 1, MAX_GIB, &m->root_size_gib, NULL))
		m->root_size_gib = 0;
	kvs_clear(&p->sizes);
	return 0;
}

static const struct reply_rule image_rules[] = {
	REPLY_RULE_CALL("", image_open, image_close),
	REPLY_RULE_TEXT("imageId", struct ec2_image, id),
	REPLY_RULE_TEXT("name", struct ec2_image, name),
	REPLY_RULE_TEXT("architecture", struct ec2_image, arch),
	REPLY_RULE_TEXT("imageState", struct ec2_image, state),
	REPLY_RULE_TEXT("rootDeviceName", struct ec2_image, root_device),
	REPLY_RULE_TEXT("creationDate", struct ec2_image, creation),
	REPLY_RULE_CALL("blockDeviceMapping/item/deviceName", NULL, mapping_device),
	REPLY_RULE_CALL("blockDeviceMapping/item/ebs/volumeSize", NULL, mapping_size),
	PAGE_TAG_RULES(image),
};

static const struct reply_reader image_reader = PAGE_READER(image, "imagesSet/item", image_rules);

struct ec2_call *ec2_describe_images(const char *const *ids, size_t n)
{
	struct buf b = {0};
	struct ec2_call *c;

	query_start(&b, "DescribeImages");
	query_list(&b, ids, n, "ImageId");
	c = call_create("DescribeImages", &b, &image_reader);
	if (c)
		c->nothing = !n;
	return c;
}

struct ec2_call *ec2_describe_images_tagged(void)
{
	const char *owner = "self", *key = TAG_SLURM_VERSION;
	struct buf b = {0};

	query_start(&b, "DescribeImages");
	query_list(&b, &owner, 1, "Owner");
	query_filter(&b, 1, "tag-key", &key, 1);
	return call_create("DescribeImages", &b, &image_reader);
}

const struct ec2_images *ec2_describe_images_reply(const struct ec2_call *c)
{
	return &((const struct image_page *)c->reply)->list;
}
