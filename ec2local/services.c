/* SPDX-License-Identifier: GPL-2.0-or-later */
/* services.c - EC2, STS and Service Quotas: their versions, their actions, and how each frames answers and errors. */
#include "ec2local/services.h"
#include "ec2local/cloud.h"
#include "ec2local/http.h"
#include "ec2local/xml.h"

#include <json-c/json.h>
#include <string.h>

#define XML_HEAD "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
#define EC2_VERSION "2016-11-15"
#define STS_VERSION "2011-06-15"
#define QUOTAS_TARGET "ServiceQuotasV20190624."

static const struct action *const ec2_actions[] = {
    run_actions,     describe_actions, status_actions, end_actions,   tags_actions,	    templates_actions, placement_actions,
    network_actions, images_actions,   types_actions, reservations_actions, fleet_actions,     NULL,
};
static const struct action *const sts_all[] = {sts_actions, NULL};
static const struct action *const quotas_all[] = {quotas_actions, NULL};

/* --- EC2 */

static void ec2_open(struct call *c)
{
	buf_str(&c->out, XML_HEAD);
	buf_fmt(&c->out, "<%sResponse xmlns=\"http://ec2.amazonaws.com/doc/" EC2_VERSION "/\">", c->action->name);
	xml_text(&c->out, "requestId", c->request_id);
}

static void ec2_close(struct call *c)
{
	buf_fmt(&c->out, "</%sResponse>", c->action->name);
}

static void ec2_fail(struct call *c, const char *code, const char *text)
{
	buf_str(&c->out, XML_HEAD "<Response><Errors><Error>");
	xml_text(&c->out, "Code", code);
	xml_text(&c->out, "Message", text);
	buf_str(&c->out, "</Error></Errors>");
	xml_text(&c->out, "RequestID", c->request_id);
	buf_str(&c->out, "</Response>");
}

/* --- STS */

static void sts_open(struct call *c)
{
	buf_fmt(&c->out, "<%sResponse xmlns=\"https://sts.amazonaws.com/doc/" STS_VERSION "/\"><%sResult>", c->action->name,
		c->action->name);
}

static void sts_close(struct call *c)
{
	buf_fmt(&c->out, "</%sResult><ResponseMetadata>", c->action->name);
	xml_text(&c->out, "RequestId", c->request_id);
	buf_fmt(&c->out, "</ResponseMetadata></%sResponse>", c->action->name);
}

static void sts_fail(struct call *c, const char *code, const char *text)
{
	buf_str(&c->out, "<ErrorResponse xmlns=\"https://sts.amazonaws.com/doc/" STS_VERSION "/\"><Error>");
	xml_text(&c->out, "Type", c->status < 500 ? "Sender" : "Receiver");
	xml_text(&c->out, "Code", code);
	xml_text(&c->out, "Message", text);
	buf_str(&c->out, "</Error>");
	xml_text(&c->out, "RequestId", c->request_id);
	buf_str(&c->out, "</ErrorResponse>");
}

/* --- Service Quotas: its actions write the whole document */

static void quotas_frame(struct call *c)
{
	(void)c;
}

static void quotas_fail(struct call *c, const char *code, const char *text)
{
	struct json_object *o = json_object_new_object();

	if (!o)
		return;
	json_object_object_add(o, "__type", json_object_new_string(code));
	json_object_object_add(o, "message", json_object_new_string(text));
	buf_str(&c->out, json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(o);
}

const struct service service_ec2 = {"ec2", EC2_VERSION, "text/xml;charset=UTF-8", ec2_open, ec2_close, ec2_fail, ec2_actions};
const struct service service_sts = {"sts", STS_VERSION, "text/xml", sts_open, sts_close, sts_fail, sts_all};
const struct service service_quotas = {"servicequotas", NULL,	   "application/x-amz-json-1.1", quotas_frame, quotas_frame,
				       quotas_fail,	quotas_all};

const struct service *service_of(const struct http_request *rq, const struct params *p)
{
	if (str_prefix(http_header(rq, "X-Amz-Target"), QUOTAS_TARGET))
		return &service_quotas;
	return str_eq(params_get(p, "Version"), STS_VERSION) ? &service_sts : &service_ec2;
}

const struct action *service_action(const struct service *s, const char *name)
{
	for (size_t i = 0; s->actions[i]; i++) {
		for (const struct action *a = s->actions[i]; a->name; a++) {
			if (str_eq(a->name, name))
				return a;
		}
	}
	return NULL;
}
