/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ec2_type.c - DescribeInstanceTypes: body and reader. Called by apply, once for all types of a cluster. */
#include "lib/aws/call.h"
#include "lib/aws/page.h"
#include "lib/aws/query.h"

#include "lib/base/num.h"

#include <limits.h>
#include <stddef.h>

#define TYPE_NAMES 100 /* EC2's limit for one request */

struct type_page {
	struct itypes list;
	struct network_card *card; /* being read; valid until the next is added */
	struct itype_gpu *gpu;
};

PAGE_CREATE(type, struct type_page)
PAGE_CURRENT(type, struct type_page)
PAGE_MERGE(type, struct type_page)
PAGE_DESTROY(type, struct type_page, itypes_clear)

static int type_open(void *page)
{
	struct type_page *p = page;

	p->card = NULL;
	p->gpu = NULL;
	return itypes_add(&p->list) ? 0 : -1;
}

/* The first of several: EC2 lists i386 beside x86_64 for old types, in either order. */
static int set_arch(void *page, const char *text)
{
	struct itype *t = type_current(page);
	char *copy;

	if ((t->arch && strcmp(t->arch, "i386")) || !*text)
		return 0;
	copy = str_dup(text);
	if (!copy)
		return -1;
	free(t->arch);
	t->arch = copy;
	return 0;
}

static int set_threads(void *page, const char *text)
{
	struct itype *t = type_current(page);

	if (!strcmp(text, "1"))
		t->one_thread_ok = true;
	return 0;
}

static int set_ebs(void *page, const char *text)
{
	struct itype *t = type_current(page);

	t->ebs_optimized_ok = !strcmp(text, "supported") || !strcmp(text, "default");
	return 0;
}

static int set_strategy(void *page, const char *text)
{
	struct itype *t = type_current(page);

	if (!strcmp(text, "cluster"))
		t->cluster_placement_ok = true;
	return 0;
}

static int card_open(void *page)
{
	struct type_page *p = page;

	p->card = itype_add_card(type_current(page));
	return p->card ? 0 : -1;
}

static int gpu_open(void *page)
{
	struct type_page *p = page;

	p->gpu = itype_add_gpu(type_current(page));
	return p->gpu ? 0 : -1;
}

static int take_number(const char *text, int64_t max, int64_t *out)
{
	int64_t value;

	if (!num_i64(text, 0, max, &value, NULL))
		*out = value;
	return 0;
}

static int take_int(const char *text, int *out)
{
	int64_t value = *out;

	take_number(text, INT_MAX, &value);
	*out = (int)value;
	return 0;
}

static int card_index(void *page, const char *text)
{
	return take_int(text, &((struct type_page *)page)->card->index);
}

static int card_interfaces(void *page, const char *text)
{
	return take_int(text, &((struct type_page *)page)->card->max_interfaces);
}

static int gpu_count(void *page, const char *text)
{
	return take_int(text, &((struct type_page *)page)->gpu->count);
}

static int gpu_memory(void *page, const char *text)
{
	return take_number(text, INT64_MAX, &((struct type_page *)page)->gpu->memory_mib);
}

static int gpu_text(char **field, const char *text)
{
	free(*field);
	*field = str_dup(text);
	return *field ? 0 : -1;
}

static int gpu_name(void *page, const char *text)
{
	return gpu_text(&((struct type_page *)page)->gpu->name, text);
}

static int gpu_manufacturer(void *page, const char *text)
{
	return gpu_text(&((struct type_page *)page)->gpu->manufacturer, text);
}

static const struct reply_rule type_rules[] = {
	REPLY_RULE_CALL("", type_open, NULL),
	REPLY_RULE_TEXT("instanceType", struct itype, name),
	REPLY_RULE_CALL("processorInfo/supportedArchitectures/item", NULL, set_arch),
	REPLY_RULE_INT("vCpuInfo/defaultVCpus", struct itype, vcpus),
	REPLY_RULE_INT("vCpuInfo/defaultCores", struct itype, cores),
	REPLY_RULE_INT("vCpuInfo/defaultThreadsPerCore", struct itype, threads_per_core),
	REPLY_RULE_CALL("vCpuInfo/validThreadsPerCore/item", NULL, set_threads),
	REPLY_RULE_I64("memoryInfo/sizeInMiB", struct itype, memory_mib),
	REPLY_RULE_BOOL("networkInfo/efaSupported", struct itype, efa),
	REPLY_RULE_INT("networkInfo/efaInfo/maximumEfaInterfaces", struct itype, max_efa),
	REPLY_RULE_CALL("networkInfo/networkCards/item", card_open, NULL),
	REPLY_RULE_CALL("networkInfo/networkCards/item/networkCardIndex", NULL, card_index),
	REPLY_RULE_CALL("networkInfo/networkCards/item/maximumNetworkInterfaces", NULL, card_interfaces),
	REPLY_RULE_CALL("gpuInfo/gpus/item", gpu_open, NULL),
	REPLY_RULE_CALL("gpuInfo/gpus/item/name", NULL, gpu_name),
	REPLY_RULE_CALL("gpuInfo/gpus/item/manufacturer", NULL, gpu_manufacturer),
	REPLY_RULE_CALL("gpuInfo/gpus/item/count", NULL, gpu_count),
	REPLY_RULE_CALL("gpuInfo/gpus/item/memoryInfo/sizeInMiB", NULL, gpu_memory),
	REPLY_RULE_CALL("ebsInfo/ebsOptimizedSupport", NULL, set_ebs),
	REPLY_RULE_CALL("placementGroupInfo/supportedStrategies/item", NULL, set_strategy),
};

static const struct reply_reader type_reader = PAGE_READER(type, "instanceTypeSet/item", type_rules);

struct ec2_call *ec2_describe_instance_types(const char *const *names, size_t n)
{
	struct ec2_call *c = NULL;

	for (size_t at = 0; at == 0 || at < n; at += TYPE_NAMES) {
		size_t part = n - at < TYPE_NAMES ? n - at : TYPE_NAMES;
		struct buf b = {0};

		query_start(&b, "DescribeInstanceTypes");
		query_list(&b, names + at, part, "InstanceType");
		c = at ? call_add_part(c, &b) : call_create("DescribeInstanceTypes", &b, &type_reader);
		if (!c)
			return NULL;
	}
	c->nothing = !n;
	return c;
}

const struct itypes *ec2_describe_instance_types_reply(const struct ec2_call *c)
{
	return &((const struct type_page *)c->reply)->list;
}
