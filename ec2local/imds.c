/* SPDX-License-Identifier: GPL-2.0-or-later */
/* imds.c - the instance metadata service, version 2: who asks is known by the source address, and a session token must come
 * first. Nothing is kept: a token is its own expiry, signed.
 */
#include "ec2local/cloud.h"
#include "ec2local/http.h"
#include "lib/base/clock.h"
#include "lib/base/jview.h"
#include "lib/base/num.h"

#include <ctype.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TTL_HEADER "X-Aws-Ec2-Metadata-Token-Ttl-Seconds"
#define TOKEN_HEADER "X-Aws-Ec2-Metadata-Token"
#define TTL_MAX_S 21600
#define CREDENTIALS_LIVE_MS (6 * 3600 * 1000)

static void fail(struct http_answer *a, int status, const char *text)
{
	a->status = status;
	buf_reset(&a->body);
	buf_fmt(&a->body, "%s\n", text);
}

/* The asker: by address; the head also by any address of its own machine. */
static struct instance *asker(struct cloud *cloud, const struct http_request *rq)
{
	char ip[INET_ADDRSTRLEN];
	struct instance *i;

	network_ip_text(rq->client, ip);
	i = instances_by_ip(&cloud->instances, ip);
	if (i || (!http_local(rq) && !str_eq(ip, "169.254.169.254")))
		return i;
	for (size_t k = 0; k < cloud->instances.n; k++) {
		if (cloud->instances.v[k]->head)
			return cloud->instances.v[k];
	}
	return NULL;
}

/* --- session tokens: "EXPIRY-HMAC(EXPIRY ID)" */

static void sign(const struct instance *i, int64_t expiry_ms, char out[65])
{
	static char secret[65]; /* made at the first use; tokens need not outlive the process */
	unsigned char md[32];
	unsigned int n = sizeof(md);
	char text[64];

	if (!secret[0])
		rand_hex(secret, 64);
	snprintf(text, sizeof(text), "%lld %s", (long long)expiry_ms, i->id);
	HMAC(EVP_sha256(), secret, 64, (const unsigned char *)text, strlen(text), md, &n);
	for (unsigned int k = 0; k < n; k++)
		snprintf(out + 2 * k, 3, "%02x", md[k]);
}

static bool token_good(const struct instance *i, const char *token)
{
	char number[24] = "", want[65];
	const char *dash = strchr(token, '-');
	int64_t expiry;

	if (!dash || dash - token >= (ptrdiff_t)sizeof(number) || strlen(dash + 1) != 64)
		return false;
	memcpy(number, token, (size_t)(dash - token));
	if (num_i64(number, 0, INT64_MAX, &expiry, NULL) < 0 || expiry <= clock_wall_ms())
		return false;
	sign(i, expiry, want);
	return !CRYPTO_memcmp(want, dash + 1, 64);
}

static void give_token(const struct instance *i, const struct http_request *rq, struct http_answer *a)
{
	const char *ttl = http_header(rq, TTL_HEADER);
	int64_t seconds, expiry;
	char mac[65];

	if (http_header(rq, "X-Forwarded-For")) {
		fail(a, 403, "403 - Forbidden");
		return;
	}
	if (!ttl || num_i64(ttl, 1, TTL_MAX_S, &seconds, NULL) < 0) {
		fail(a, 400, "400 - Bad Request: " TTL_HEADER " must be 1 to 21600");
		return;
	}
	expiry = clock_wall_ms() + seconds * 1000;
	sign(i, expiry, mac);
	kvs_add(&a->headers, TTL_HEADER, ttl);
	buf_fmt(&a->body, "%lld-%s", (long long)expiry, mac);
}

/* --- what there is to tell: every leaf below meta-data */

/* Add a leaf; a failure shows as a missing leaf and is as bad as any other 404. */
static void leaf(struct kvs *l, const char *path, const char *val)
{
	if (val)
		(void)!kvs_add(l, path, val);
}

static void leaf_take(struct kvs *l, const char *path, char *val)
{
	leaf(l, path, val);
	free(val);
}

static void identity_leaves(const struct cloud *cloud, const struct instance *i, struct kvs *l)
{
	char host[32];

	instance_hostname(i, host);
	leaf(l, "ami-id", i->launch->image ? i->launch->image->id : NULL);
	leaf_take(l, "ami-launch-index", str_fmt("%d", i->index));
	leaf_take(l, "hostname", str_fmt("%s.ec2.internal", host));
	leaf(l, "instance-action", "none");
	leaf(l, "instance-id", i->id);
	leaf(l, "instance-life-cycle", market_name(i->launch->market));
	leaf(l, "instance-type", i->launch->type->name);
	leaf_take(l, "local-hostname", str_fmt("%s.ec2.internal", host));
	leaf(l, "local-ipv4", i->ip_key);
	leaf(l, "mac", i->addresses[i->launch->primary].mac);
	leaf(l, "placement/availability-zone", i->launch->subnet->zone);
	leaf(l, "placement/region", cloud->region);
	leaf(l, "placement/group-name", i->launch->placement);
	leaf(l, "reservation-id", i->launch->reservation);
	leaf(l, "services/domain", "amazonaws.com");
	leaf(l, "services/partition", "aws");
}

static void network_leaves(const struct cloud *cloud, const struct instance *i, struct kvs *l)
{
	struct strs names = {0};

	for (size_t k = 0; k < i->launch->nics[i->launch->primary].groups.n; k++) {
		const struct group *g = network_group(&cloud->network, i->launch->nics[i->launch->primary].groups.v[k]);

		(void)!strs_add(&names, g ? g->name : "?");
	}
	leaf_take(l, "security-groups", strs_join(&names, "\n"));
	strs_clear(&names);
	for (size_t k = 0; k < i->launch->n_nics; k++) {
		const struct nic *n = &i->launch->nics[k];
		const struct address *x = &i->addresses[k];
		char ip[INET_ADDRSTRLEN], *at = str_fmt("network/interfaces/macs/%s/", x->mac);

		if (!at)
			return;
		network_ip_text(x->ip, ip);
		const struct {
			const char *name, *val;
		} v[] = {{"mac", x->mac},
			 {"local-ipv4s", x->ip ? ip : NULL},
			 {"subnet-id", n->subnet->id},
			 {"subnet-ipv4-cidr-block", n->subnet->cidr},
			 {"vpc-id", cloud->network.vpc_id},
			 {"vpc-ipv4-cidr-block", cloud->network.cidr},
			 {"interface-id", x->eni},
			 {"owner-id", CLOUD_ACCOUNT}};
		for (size_t j = 0; j < sizeof(v) / sizeof(*v); j++) {
			char *path = v[j].val ? str_fmt("%s%s", at, v[j].name) : NULL;

			if (path)
				leaf(l, path, v[j].val);
			free(path);
		}
		free(at);
	}
}

static void credentials_leaf(struct cloud *cloud, struct kvs *l)
{
	const struct key *k = cloud_role_key(cloud, clock_wall_ms());
	struct json_object *o = k ? json_object_new_object() : NULL;
	char *path = k ? str_fmt("iam/security-credentials/%s", cloud->role) : NULL;
	char now[25], end[25];

	if (o && path) {
		clock_iso(clock_wall_ms(), now);
		clock_iso(k->expires_ms ? k->expires_ms : clock_wall_ms() + CREDENTIALS_LIVE_MS, end);
		jview_put_str(o, "Code", "Success");
		jview_put_str(o, "LastUpdated", now);
		jview_put_str(o, "Type", "AWS-HMAC");
		jview_put_str(o, "AccessKeyId", k->access);
		jview_put_str(o, "SecretAccessKey", k->secret);
		jview_put_str(o, "Token", k->token ? k->token : "");
		jview_put_str(o, "Expiration", end);
		leaf(l, path, json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
	}
	json_object_put(o);
	free(path);
}

static bool event_over(const struct event *x)
{
	return x->text && (str_prefix(x->text, "[Completed]") || str_prefix(x->text, "[Canceled]"));
}

static void events_leaf(const struct instance *i, struct kvs *l)
{
	struct json_object *all = json_object_new_array();
	char at[25];

	for (size_t k = 0; all && k < i->n_events; k++) {
		const struct event *x = &i->events[k];
		struct json_object *o = event_over(x) ? NULL : json_object_new_object();

		if (!o)
			continue;
		clock_iso(x->not_before_ms, at);
		jview_put_str(o, "Code", x->code);
		jview_put_str(o, "Description", x->text);
		jview_put_str(o, "NotBefore", at);
		jview_put_str(o, "EventId", x->id);
		jview_put_str(o, "State", "active");
		json_object_array_add(all, o);
	}
	leaf(l, "events/maintenance/scheduled",
	     all ? json_object_to_json_string_ext(all, JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE) : NULL);
	json_object_put(all);
}

static void notice_leaves(const struct instance *i, struct kvs *l)
{
	char at[25];

	if (i->spot_action_ms) {
		clock_iso(i->spot_action_ms, at);
		leaf_take(l, "spot/instance-action",
			  str_fmt("{\"action\": \"%s\", \"time\": \"%.19sZ\"}", i->spot_action ? i->spot_action : "terminate", at));
		if (!i->spot_action || str_eq(i->spot_action, "terminate"))
			leaf_take(l, "spot/termination-time", str_fmt("%.19sZ", at));
	}
	events_leaf(i, l);
}

static void all_leaves(struct cloud *cloud, const struct instance *i, struct kvs *l)
{
	identity_leaves(cloud, i, l);
	network_leaves(cloud, i, l);
	notice_leaves(i, l);
	if (i->launch->profile)
		credentials_leaf(cloud, l);
	for (size_t k = 0; i->launch->imds_tags && k < i->tags.key.n; k++) {
		char *path = str_fmt("tags/instance/%s", i->tags.key.v[k]);

		if (path)
			leaf(l, path, i->tags.val.v[k]);
		free(path);
	}
}

/* The names below a folder: once each, with a slash when there is more below. 0 = no such folder. */
static size_t list_folder(const struct kvs *l, const char *folder, struct buf *out)
{
	struct strs seen = {0};
	size_t n = strlen(folder), count;
	char *text;

	for (size_t i = 0; i < l->key.n; i++) {
		const char *rest = l->key.v[i] + n;
		size_t len;
		char *name;

		if (!str_prefix(l->key.v[i], folder) || (n && folder[n - 1] != '/' && *rest++ != '/'))
			continue;
		len = strcspn(rest, "/");
		name = str_fmt("%.*s%s", (int)len, rest, rest[len] ? "/" : "");
		if (name && !strs_has(&seen, name))
			(void)!strs_take(&seen, name);
		else
			free(name);
	}
	count = seen.n;
	text = strs_join(&seen, "\n");
	buf_str(out, count ? text : "");
	free(text);
	strs_clear(&seen);
	return count;
}

/* Clients encode the colon of a tag's key or not: %XX back to its character, in place. */
static void unescape(char *s)
{
	char *w = s;

	for (; *s; s++) {
		char hex[3] = {s[0] == '%' ? s[1] : '\0', s[0] == '%' && s[1] ? s[2] : '\0', '\0'};

		if (isxdigit((unsigned char)hex[0]) && isxdigit((unsigned char)hex[1])) {
			*w++ = (char)strtol(hex, NULL, 16);
			s += 2;
		} else {
			*w++ = *s;
		}
	}
	*w = '\0';
}

static void metadata(struct cloud *cloud, const struct instance *i, const char *encoded, struct http_answer *a)
{
	char *path = str_dup(encoded);
	struct kvs l = {0};
	const char *val;

	if (!path) {
		fail(a, 500, "500 - Internal Server Error");
		return;
	}
	unescape(path);
	all_leaves(cloud, i, &l);
	val = kvs_get(&l, path);
	if (val)
		buf_str(&a->body, val);
	else if (!list_folder(&l, path, &a->body))
		fail(a, 404, "404 - Not Found");
	kvs_clear(&l);
	free(path);
}

static void user_data(const struct instance *i, struct http_answer *a)
{
	const char *b64 = i->launch->user_data;
	size_t n = b64 ? strlen(b64) : 0;
	unsigned char *raw = n ? malloc(n + 1) : NULL;
	int got = raw ? EVP_DecodeBlock(raw, (const unsigned char *)b64, (int)n) : -1;

	a->type = "application/octet-stream";
	if (got < 0)
		fail(a, 404, "404 - Not Found");
	else /* DecodeBlock counts the padding as bytes */
		buf_add(&a->body, raw, (size_t)got - (b64[n - 1] == '=') - (b64[n - 2] == '='));
	free(raw);
}

static void document(const struct cloud *cloud, const struct instance *i, struct http_answer *a)
{
	struct json_object *o = json_object_new_object();
	char at[25];

	if (!o) {
		fail(a, 500, "500 - Internal Server Error");
		return;
	}
	clock_iso(i->launched_ms, at);
	jview_put_str(o, "accountId", CLOUD_ACCOUNT);
	jview_put_str(o, "architecture", i->launch->type->arch);
	jview_put_str(o, "availabilityZone", i->launch->subnet->zone);
	jview_put_str(o, "imageId", i->launch->image ? i->launch->image->id : NULL);
	jview_put_str(o, "instanceId", i->id);
	jview_put_str(o, "instanceType", i->launch->type->name);
	jview_put_str(o, "pendingTime", at);
	jview_put_str(o, "privateIp", i->ip_key);
	jview_put_str(o, "region", cloud->region);
	jview_put_str(o, "version", "2017-09-30");
	a->type = "application/json";
	buf_str(&a->body, json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(o);
}

static void get(struct cloud *cloud, const struct instance *i, const char *path, struct http_answer *a)
{
	if (str_eq(path, "") || str_eq(path, "/"))
		buf_str(&a->body, "dynamic\nmeta-data\nuser-data");
	else if (str_eq(path, "/meta-data"))
		metadata(cloud, i, "", a);
	else if (str_prefix(path, "/meta-data/"))
		metadata(cloud, i, path + strlen("/meta-data/"), a);
	else if (str_eq(path, "/user-data"))
		user_data(i, a);
	else if (str_eq(path, "/dynamic/instance-identity/document"))
		document(cloud, i, a);
	else
		fail(a, 404, "404 - Not Found");
}

void imds_answer(struct cloud *cloud, const struct http_request *rq, struct http_answer *a)
{
	const struct instance *i = asker(cloud, rq);
	const char *token = http_header(rq, TOKEN_HEADER), *path = rq->path;

	a->status = 200;
	a->type = "text/plain";
	if (!i) {
		fail(a, 404, "404 - Not Found: no instance has this address");
		return;
	}
	if (str_eq(path, "/latest/api/token")) {
		if (str_eq(rq->method, "PUT"))
			give_token(i, rq, a);
		else
			fail(a, 405, "405 - Method Not Allowed");
		return;
	}
	if (token ? !token_good(i, token) : !i->launch->imds_optional) {
		fail(a, 401, "401 - Unauthorized");
		return;
	}
	if (!str_eq(rq->method, "GET") || !str_prefix(path, "/latest"))
		fail(a, str_eq(rq->method, "GET") ? 404 : 405, "404 - Not Found");
	else
		get(cloud, i, path + strlen("/latest"), a);
}
