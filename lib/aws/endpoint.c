/* SPDX-License-Identifier: GPL-2.0-or-later */
/* endpoint.c - AWS partitions and endpoint URLs. Called by connection.c. */
#include "lib/aws/endpoint.h"

#include "lib/base/err.h"
#include "lib/base/num.h"
#include "lib/base/str.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* First match wins: the longer prefixes stand before the ones they begin with. In us-gov the plain names of our services are
 * the FIPS ones. */
static const struct partition {
	const char *prefix;
	const char *suffix;
	const char *dual_suffix;
	bool plain_is_fips;
} partitions[] = {
	{"cn-", "amazonaws.com.cn", "api.amazonwebservices.com.cn", false},
	{"us-gov-", "amazonaws.com", "api.aws", true},
	{"us-isob-", "sc2s.sgov.gov", "api.aws.scloud", false},
	{"us-isof-", "csp.hci.ic.gov", "api.aws.hci.ic.gov", false},
	{"us-iso-", "c2s.ic.gov", "api.aws.ic.gov", false},
	{"eu-isoe-", "cloud.adc-e.uk", "api.cloud-aws.adc-e.uk", false},
	{"eusc-", "amazonaws.eu", "api.amazonwebservices.eu", false},
	{"", "amazonaws.com", "api.aws", false},
};

/* Words of lower-case letters and a final number, joined by dashes: it becomes part of a host name. */
static bool is_region(const char *s)
{
	size_t n = strlen(s), dashes = 0;

	if (n < 5 || n > 40 || s[0] < 'a' || s[0] > 'z' || s[n - 1] < '0' || s[n - 1] > '9')
		return false;
	for (size_t i = 0; i < n; i++) {
		if (s[i] == '-' && s[i - 1] != '-')
			dashes++;
		else if (!((s[i] >= 'a' && s[i] <= 'z') || (s[i] >= '0' && s[i] <= '9')))
			return false;
	}
	return dashes >= 2;
}

int endpoint_of(const char *service, const char *region, struct endpoint_variant variant, struct endpoint *out, struct err *e)
{
	struct endpoint ep = {.tls = true};
	const struct partition *p = partitions;
	bool fips;

	if (!is_region(region))
		return err_set(e, "\"%s\" is not an AWS region; it looks like us-east-1", region);
	while (!str_prefix(region, p->prefix))
		p++;
	fips = variant.fips && (variant.dual_stack || !p->plain_is_fips);
	ep.host = str_fmt("%s%s.%s.%s", service, fips ? "-fips" : "", region, variant.dual_stack ? p->dual_suffix : p->suffix);
	ep.url = ep.host ? str_fmt("https://%s/", ep.host) : NULL;
	if (!ep.url) {
		endpoint_clear(&ep);
		return err_nomem(e);
	}
	*out = ep;
	return 0;
}

static bool is_below(const char *host, const char *domain)
{
	size_t n = strcspn(host, ":"), m = strlen(domain);

	return n > m && host[n - m - 1] == '.' && !strncasecmp(host + n - m, domain, m);
}

bool endpoint_is_aws(const struct endpoint *ep)
{
	for (size_t i = 0; i < sizeof partitions / sizeof *partitions; i++)
		if (is_below(ep->host, partitions[i].suffix) || is_below(ep->host, partitions[i].dual_suffix))
			return true;
	return false;
}

static int refuse(struct err *e, const char *url, const char *why)
{
	return err_set(e, "endpoint \"%s\" %s; it looks like https://ec2.us-east-1.amazonaws.com or http://127.0.0.1:8000", url, why);
}

/* Host name, IPv4 address or [IPv6 address]. Returns its length, 0 = none of them. */
static size_t host_length(const char *s)
{
	size_t n;

	if (*s != '[') {
		n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_");
		return n && s[0] != '-' && s[0] != '.' ? n : 0;
	}
	n = strspn(s + 1, "0123456789abcdefABCDEF:.");
	return n && s[n + 1] == ']' ? n + 2 : 0;
}

/* The port after the host; 0 = none given, -1 = not a port. Moves *p behind it. */
static int take_port(const char **p)
{
	char digits[6] = "";
	int64_t port;
	size_t n;

	if (**p != ':')
		return 0;
	n = strspn(++*p, "0123456789");
	if (!n || n >= sizeof digits)
		return -1;
	memcpy(digits, *p, n);
	*p += n;
	return num_i64(digits, 1, 65535, &port, NULL) ? -1 : (int)port;
}

int endpoint_parse(const char *url, struct endpoint *out, struct err *e)
{
	struct endpoint ep = {0};
	const char *p = url, *host;
	size_t n;
	int port;

	if (!strncasecmp(p, "https://", 8))
		ep.tls = true;
	else if (strncasecmp(p, "http://", 7))
		return refuse(e, url, "does not begin with http:// or https://");
	host = p += ep.tls ? 8 : 7;
	n = host_length(p);
	if (!n)
		return refuse(e, url, "has no host name");
	p += n;
	port = take_port(&p);
	if (port < 0)
		return refuse(e, url, "has a wrong port");
	if (strcmp(p, "") && strcmp(p, "/"))
		return refuse(e, url, "has more than scheme, host and port");
	if (!port || port == (ep.tls ? 443 : 80))
		ep.host = str_fmt("%.*s", (int)n, host);
	else
		ep.host = str_fmt("%.*s:%d", (int)n, host, port);
	ep.url = ep.host ? str_fmt("%s://%s/", ep.tls ? "https" : "http", ep.host) : NULL;
	if (!ep.url) {
		endpoint_clear(&ep);
		return err_nomem(e);
	}
	*out = ep;
	return 0;
}

void endpoint_clear(struct endpoint *ep)
{
	free(ep->url);
	free(ep->host);
	*ep = (struct endpoint){0};
}
