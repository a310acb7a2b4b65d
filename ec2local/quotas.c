/* SPDX-License-Identifier: GPL-2.0-or-later */
/* quotas.c - the table of vCPU quotas, and Service Quotas' ListServiceQuotas and GetServiceQuota for service code ec2. */
#include "ec2local/quotas.h"
#include "ec2local/cloud.h"
#include "ec2local/page.h"
#include "ec2local/services.h"
#include "lib/base/jview.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_WITHOUT_LIMIT 1000000 /* vCPUs */

static const char *const list_params[] = {"ServiceCode", "NextToken", "MaxResults", NULL};
static const char *const get_params[] = {"ServiceCode", "QuotaCode", NULL};

static const struct {
	const char *code, *name;
	enum market market;
	const char *families; /* letters before the size's digit, between bars; NULL = all others */
} rows[QUOTA_ROWS] = {
    {"L-1216C47A", "Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances", MARKET_ON_DEMAND, NULL},
    {"L-417A185B", "Running On-Demand P instances", MARKET_ON_DEMAND, "|p|"},
    {"L-DB2E81BA", "Running On-Demand G and VT instances", MARKET_ON_DEMAND, "|g|gr|vt|"},
    {"L-F7808C92", "Running On-Demand HPC instances", MARKET_ON_DEMAND, "|hpc|"},
    {"L-74FC7D96", "Running On-Demand F instances", MARKET_ON_DEMAND, "|f|"},
    {"L-1945791B", "Running On-Demand Inf instances", MARKET_ON_DEMAND, "|inf|"},
    {"L-2C3B7624", "Running On-Demand Trn instances", MARKET_ON_DEMAND, "|trn|"},
    {"L-7295265B", "Running On-Demand X instances", MARKET_ON_DEMAND, "|x|"},
    {"L-6E869C2A", "Running On-Demand DL instances", MARKET_ON_DEMAND, "|dl|"},
    {"L-43DA4232", "Running On-Demand High Memory instances", MARKET_ON_DEMAND, "|u|"},
    {"L-34B43A08", "All Standard (A, C, D, H, I, M, R, T, Z) Spot Instance Requests", MARKET_SPOT, NULL},
    {"L-7212CCBC", "All P4, P3 and P2 Spot Instance Requests", MARKET_SPOT, "|p|"},
    {"L-3819A6DF", "All G and VT Spot Instance Requests", MARKET_SPOT, "|g|gr|vt|"},
    {"L-88CF9481", "All F Spot Instance Requests", MARKET_SPOT, "|f|"},
    {"L-B5D1601B", "All Inf Spot Instance Requests", MARKET_SPOT, "|inf|"},
    {"L-6B0D517C", "All Trn Spot Instance Requests", MARKET_SPOT, "|trn|"},
    {"L-E3A00192", "All X Spot Instance Requests", MARKET_SPOT, "|x|"},
    {"L-85EED4F7", "All DL Spot Instance Requests", MARKET_SPOT, "|dl|"},
};

int quotas_row(const char *type, enum market market)
{
	char family[16];
	int others = -1;

	snprintf(family, sizeof(family), "|%.*s|", (int)strcspn(type, "0123456789-."), type);
	for (int i = 0; i < QUOTA_ROWS; i++) {
		if (rows[i].market != market)
			continue;
		if (!rows[i].families)
			others = i;
		else if (strstr(rows[i].families, family))
			return i;
	}
	return others;
}

int quotas_find(const char *code)
{
	for (int i = 0; i < QUOTA_ROWS; i++) {
		if (str_eq(rows[i].code, code))
			return i;
	}
	return -1;
}

int64_t quotas_limit(const struct cloud *cloud, int row)
{
	int64_t own = cloud->faults.quota_row[row];

	return own >= 0 ? own : cloud->faults.quota[rows[row].market];
}

/* --- Service Quotas */

static struct json_object *quota_json(const struct call *c, int row)
{
	struct json_object *o = json_object_new_object();
	char *arn = str_fmt("arn:aws:servicequotas:%s:" CLOUD_ACCOUNT ":ec2/%s", c->cloud->region, rows[row].code);
	int64_t limit = quotas_limit(c->cloud, row);

	if (limit < 0)
		limit = c->cloud->faults.quota_vcpus >= 0 ? c->cloud->faults.quota_vcpus : SHOWN_WITHOUT_LIMIT;
	if (o) {
		jview_put_str(o, "ServiceCode", "ec2");
		jview_put_str(o, "ServiceName", "Amazon Elastic Compute Cloud (Amazon EC2)");
		jview_put_str(o, "QuotaArn", arn);
		jview_put_str(o, "QuotaCode", rows[row].code);
		jview_put_str(o, "QuotaName", rows[row].name);
		jview_put_double(o, "Value", (double)limit);
		jview_put_str(o, "Unit", "None");
		jview_put_bool(o, "Adjustable", true);
		jview_put_bool(o, "GlobalQuota", false);
	}
	free(arn);
	return o;
}

static int answer(struct call *c, struct json_object *o)
{
	if (!o)
		return call_nomem(c);
	buf_str(&c->out, json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(o);
	return 0;
}

static int check_service(struct call *c)
{
	const char *code = call_need(c, "ServiceCode");

	if (!code || str_eq(code, "ec2"))
		return code ? 0 : -1;
	return call_fail(c, 400, "NoSuchResourceException", "The service %.60s is not known here", code);
}

static int list(struct call *c)
{
	struct json_object *o, *all;
	struct page page;

	if (check_service(c) < 0 || page_read(c, &page, 1, 100, NULL) < 0)
		return -1;
	o = json_object_new_object();
	all = json_object_new_array();
	for (int i = (int)page.after; o && all && i < QUOTA_ROWS && page_take(&page, (uint64_t)i + 1); i++)
		json_object_array_add(all, quota_json(c, i));
	if (o && page.more) {
		char *token = page_token(&page);

		jview_put_str(o, "NextToken", token);
		free(token);
	}
	if (o)
		jview_put_obj(o, "Quotas", all);
	return answer(c, o);
}

static int get(struct call *c)
{
	const char *code = check_service(c) < 0 ? NULL : call_need(c, "QuotaCode");
	int row = code ? quotas_find(code) : -1;
	struct json_object *o;

	if (!code)
		return -1;
	if (row < 0)
		return call_fail(c, 400, "NoSuchResourceException",
				 "The request failed because the specified quota %.40s does not exist", code);
	o = json_object_new_object();
	if (o)
		jview_put_obj(o, "Quota", quota_json(c, row));
	return answer(c, o);
}

const struct action quotas_actions[] = {
    {"ListServiceQuotas", list, list_params, false, NULL},
    {"GetServiceQuota", get, get_params, false, NULL},
    {NULL, NULL, NULL, false, NULL},
};
