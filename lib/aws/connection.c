/* SPDX-License-Identifier: GPL-2.0-or-later */
/* connection.c - struct aws: configuration, keys and endpoint, found at the first request. The only reader of AWS's
 * environment variables beside credentials.c, and only for commands a person runs.
 */
#include "lib/aws/connection.h"

#include "lib/aws/http.h"
#include "lib/aws/imds.h"
#include "lib/aws/secret.h"
#include "lib/aws/share.h"
#include "lib/aws/sign.h"
#include "lib/base/buf.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define REFRESH_AGAIN_MS (2 * 60 * 1000) /* when the new keys are still the old ones */
#define IMDS_V4 "http://169.254.169.254"
#define IMDS_V6 "http://[fd00:ec2::254]"

/* --- configuration */
static const char *environment(const struct aws_config *c, const char *name)
{
	const char *v = c->person ? getenv(name) : NULL;

	return v && *v ? v : NULL;
}

static const char *first(const char *a, const char *b)
{
	return a ? a : b;
}

static bool is_true(const char *text)
{
	return text && !strcasecmp(text, "true");
}

static int copy(char **to, const char *from)
{
	*to = str_dup(from);
	return from && !*to ? -1 : 0;
}

/* The shared files of a person: named, or below the home folder. */
static char *shared_file(const struct aws_config *c, const char *variable, const char *given, const char *name)
{
	const char *path = first(environment(c, variable), given), *home = environment(c, "HOME");

	if (!path && home)
		return str_fmt("%s/.aws/%s", home, name);
	return str_dup(path);
}

/* A person's own environment comes before the settings for keys: apply needs more rights than the daemons. */
static int set_source(struct credential_source *s, const struct aws_config *c)
{
	s->environment = c->person;
	s->no_imds = is_true(environment(c, "AWS_EC2_METADATA_DISABLED"));
	s->credentials_file = shared_file(c, "AWS_SHARED_CREDENTIALS_FILE", c->credentials_file, "credentials");
	s->config_file = shared_file(c, "AWS_CONFIG_FILE", c->config_file, "config");
	if (copy(&s->share_dir, c->share_dir))
		return -1;
	return copy(&s->profile, first(environment(c, "AWS_PROFILE"), c->profile));
}

static const struct {
	const char *name;     /* in host names */
	const char *variable; /* AWS_ENDPOINT_URL_... */
	const char *id;       /* in the config file */
} services[SERVICES] = {
	[SERVICE_EC2] = {"ec2", "AWS_ENDPOINT_URL_EC2", "ec2"},
	[SERVICE_STS] = {"sts", "AWS_ENDPOINT_URL_STS", "sts"},
	[SERVICE_QUOTAS] = {"servicequotas", "AWS_ENDPOINT_URL_SERVICE_QUOTAS", "service_quotas"},
};

static int set_endpoints(struct aws *a, const struct aws_config *c)
{
	const char *url[SERVICES] = {c->endpoint, c->sts_endpoint, c->quotas_endpoint};

	a->ignore_files = !c->person || is_true(environment(c, "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"));
	a->variant.fips = is_true(environment(c, "AWS_USE_FIPS_ENDPOINT"));
	a->variant.dual_stack = is_true(environment(c, "AWS_USE_DUALSTACK_ENDPOINT"));
	for (int i = 0; i < SERVICES; i++) {
		if (!url[i] && !a->ignore_files)
			url[i] = first(environment(c, services[i].variable), environment(c, "AWS_ENDPOINT_URL"));
		if (copy(&a->endpoint_given[i], url[i]))
			return -1;
	}
	return 0;
}

/* A program's environment never counts, a person's only fills what the settings leave open. */
static int set_route(struct aws *a, const struct aws_config *c)
{
	const char *none = c->person ? NULL : "";

	if (copy(&a->proxy, first(c->proxy, none)) || copy(&a->no_proxy, first(c->no_proxy, none)))
		return -1;
	return copy(&a->ca_bundle, first(c->ca_bundle, environment(c, "AWS_CA_BUNDLE")));
}

/* The metadata service of a person's environment; the settings' default is no answer to that. */
static const char *imds_address(const struct aws_config *c)
{
	const char *mode = environment(c, "AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE"), *url = c->imds_endpoint;

	if (c->person && (!url || !strcmp(url, IMDS_V4))) {
		url = environment(c, "AWS_EC2_METADATA_SERVICE_ENDPOINT");
		if (!url && mode && !strcasecmp(mode, "IPv6"))
			url = IMDS_V6;
	}
	return url;
}

static int set_config(struct aws *a, const struct aws_config *c)
{
	a->person = c->person;
	a->stop = c->stop;
	if (copy(&a->region, first(c->region, first(environment(c, "AWS_REGION"), environment(c, "AWS_DEFAULT_REGION")))))
		return -1;
	if (set_route(a, c) || set_endpoints(a, c) || set_source(&a->source, c))
		return -1;
	a->imds = imds_create(imds_address(c));
	return a->imds ? 0 : -1;
}

/* The programs of one head node spend one account's rate of one region together. */
static int set_buckets(struct aws *a, const struct aws_config *c)
{
	const char *const parts[] = {a->region, a->endpoint_given[SERVICE_EC2], a->source.profile, a->source.credentials_file,
				     a->source.config_file};
	char *path = c->share_dir ? share_path(c->share_dir, "rate", parts, sizeof parts / sizeof *parts) : NULL;

	if (!c->share_dir || path)
		a->buckets = bucket_share_create(&c->rates, path, clock_mono_ms());
	free(path);
	return a->buckets ? 0 : -1;
}

struct aws *aws_create(const struct aws_config *c, struct err *e)
{
	struct aws *a = calloc(1, sizeof *a);

	if (!a || set_config(a, c) || set_buckets(a, c)) {
		aws_destroy(a);
		err_nomem(e);
		return NULL;
	}
	return a;
}

void aws_destroy(struct aws *a)
{
	if (!a)
		return;
	http_destroy(a->http);
	imds_destroy(a->imds);
	bucket_share_destroy(a->buckets);
	endpoint_clear(&a->endpoint);
	credentials_clear(&a->keys);
	credential_source_clear(&a->source);
	free(a->region);
	for (int i = 0; i < SERVICES; i++)
		free(a->endpoint_given[i]);
	free(a->proxy);
	free(a->no_proxy);
	free(a->ca_bundle);
	free(a);
}

uint64_t aws_call_count(const struct aws *a)
{
	return a->calls;
}

/* --- ready for a request */
static int region_from_imds(struct aws *a, struct err *e)
{
	struct buf b = {0};
	int rc = imds_get(a->imds, "meta-data/placement/region", &b, e);

	if (rc > 0)
		a->region = buf_take(&b);
	buf_free(&b);
	return a->region ? 0 : -1;
}

static int find_region(struct aws *a, struct err *e)
{
	struct err why = {0};
	int rc;

	if (a->region)
		return 0;
	rc = credentials_region(&a->source, &a->region, e);
	if (rc)
		return rc < 0 ? -1 : 0;
	if (!a->source.no_imds && !region_from_imds(a, &why))
		return 0;
	return err_set(e, "no AWS region: give Region in cluster.yaml%s%s%s", a->person ? ", or set AWS_REGION" : "",
		       why.text[0] ? "; " : "", why.text);
}

const char *aws_region(struct aws *a, struct err *e)
{
	return find_region(a, e) ? NULL : a->region;
}

/* The endpoint that settings, environment or config file name: 1, 0 = none does, -1. */
static int named_endpoint(struct aws *a, enum aws_service service, struct endpoint *out, struct err *e)
{
	char *url = NULL;
	int rc;

	if (a->endpoint_given[service])
		return endpoint_parse(a->endpoint_given[service], out, e) ? -1 : 1;
	rc = a->ignore_files ? 0 : credentials_endpoint(&a->source, services[service].id, &url, e);
	if (rc > 0)
		rc = endpoint_parse(url, out, e) ? -1 : 1;
	free(url);
	return rc;
}

int connection_endpoint(struct aws *a, enum aws_service service, struct endpoint *out, struct err *e)
{
	struct endpoint ec2 = {0};
	int rc = find_region(a, e) ? -1 : named_endpoint(a, service, out, e);

	if (rc)
		return rc < 0 ? -1 : 0;
	/* A cloud that is not AWS's answers for its other services at the same place. */
	rc = service == SERVICE_EC2 ? 0 : named_endpoint(a, SERVICE_EC2, &ec2, e);
	if (rc > 0 && !endpoint_is_aws(&ec2)) {
		*out = ec2;
		return 0;
	}
	endpoint_clear(&ec2);
	return rc < 0 ? -1 : endpoint_of(services[service].name, a->region, a->variant, out, e);
}

static int find_endpoint(struct aws *a, struct err *e)
{
	struct endpoint sts;

	if (a->endpoint.url)
		return 0;
	if (connection_endpoint(a, SERVICE_STS, &sts, e))
		return -1;
	free(a->source.sts_endpoint);
	a->source.sts_endpoint = sts.url;
	sts.url = NULL;
	endpoint_clear(&sts);
	a->source.region = a->region;
	connection_route(a, true, &a->source.route);
	return connection_endpoint(a, SERVICE_EC2, &a->endpoint, e);
}

void connection_route(const struct aws *a, bool tls, struct http_route *route)
{
	*route = (struct http_route){.proxy = a->proxy, .no_proxy = a->no_proxy, .ca_bundle = a->ca_bundle, .tls = tls};
}

static int open_transport(struct aws *a, struct err *e)
{
	struct http_route route;

	if (a->http)
		return 0;
	connection_route(a, a->endpoint.tls, &route);
	a->http = http_create(&route, e);
	return a->http ? 0 : -1;
}

static int64_t refresh_time(const struct credentials *c, int64_t now_ms)
{
	int64_t at = c->expires_ms - CREDENTIALS_TRY_MS;

	if (!c->expires_ms)
		return INT64_MAX;
	return at > now_ms + REFRESH_AGAIN_MS ? at : now_ms + REFRESH_AGAIN_MS;
}

/* Take over what `fresh` owns. */
static void take_keys(struct aws *a, struct credentials *fresh, int64_t now_ms)
{
	if (!credentials_equal(fresh, &a->keys))
		a->keys_serial++;
	credentials_clear(&a->keys);
	a->keys = *fresh;
	a->refresh_at_ms = refresh_time(fresh, now_ms);
}

static int load_keys(struct aws *a, struct err *e)
{
	struct credentials fresh = {0};
	int64_t now_ms = clock_wall_ms();

	if (credentials_load(&a->source, a->imds, NULL, &fresh, e)) {
		/* The keys in hand outlive a metadata service that is slow to answer. */
		if (!a->keys.access_key || (a->keys.expires_ms && now_ms >= a->keys.expires_ms))
			return -1;
		a->refresh_at_ms = now_ms + REFRESH_AGAIN_MS;
		return 0;
	}
	take_keys(a, &fresh, now_ms);
	return 0;
}

int connection_ready(struct aws *a, struct err *e)
{
	if (find_region(a, e) || find_endpoint(a, e) || open_transport(a, e))
		return -1;
	if (a->refresh_at_ms && clock_wall_ms() < a->refresh_at_ms)
		return 0;
	return load_keys(a, e);
}

bool connection_renew(struct aws *a, unsigned serial)
{
	struct credentials fresh = {0};

	if (serial != a->keys_serial)
		return true; /* another request's refusal has brought new ones */
	if (serial == a->refused_serial)
		return false;
	if (!credentials_load(&a->source, a->imds, &a->keys, &fresh, NULL))
		take_keys(a, &fresh, clock_wall_ms());
	if (serial == a->keys_serial)
		a->refused_serial = serial;
	return serial != a->keys_serial;
}

int connection_sign(struct aws *a, const char *body, size_t body_n, struct strs *headers)
{
	struct sign_post p = {
		.service = "ec2", .region = a->region, .host = a->endpoint.host, .keys = &a->keys, .content_type = SIGN_FORM,
		.body = body, .body_n = body_n, .wall_ms = clock_wall_ms() + a->skew_ms,
	};

	return sign_post(&p, headers);
}

void connection_redact(const struct aws *a, char *text)
{
	secret_redact(text, a->keys.secret);
	secret_redact(text, a->keys.token);
}
