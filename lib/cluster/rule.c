/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rule.c - the patterns of values: what reaches slurm.conf, a tag or the boot script has passed one of these. Pure. */
#include "lib/cluster/rule.h"

#include "lib/base/str.h"

#include <arpa/inet.h>
#include <string.h>

#define DIGITS "0123456789"
#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

enum {
	NAME_MAX_CHARS = 25, /* a node name must fit a host name: 25 + 4 + 25 + digits <= 63 */
	TAG_KEY_MAX = 128,
	TAG_VALUE_MAX = 256,
	TEXT_MAX = 1024,
};

static bool only(const char *s, const char *set)
{
	return s[strspn(s, set)] == '\0';
}

/* Control characters would end a line of slurm.conf or forge one. */
static bool one_line(const char *s, size_t max)
{
	size_t n = 0;

	for (; s[n]; n++)
		if ((unsigned char)s[n] < 0x20 || s[n] == 0x7f)
			return false;
	return n <= max;
}

static bool is_name(const char *s, const char *arg)
{
	(void)arg;
	return *s >= 'a' && *s <= 'z' && only(s, LOWER DIGITS "-") && strlen(s) <= NAME_MAX_CHARS && strcmp(s, "default") != 0;
}

static bool is_text(const char *s, const char *arg)
{
	return strcmp(s, arg) == 0;
}

static bool is_itype(const char *s, const char *arg)
{
	const char *dot = strchr(s, '.');

	(void)arg;
	return *s >= 'a' && *s <= 'z' && dot && dot[1] && only(s, LOWER DIGITS "-.") && strlen(s) <= 64;
}

/* <prefix> and 8 or 17 letters or digits. */
static bool is_id(const char *s, const char *prefix)
{
	size_t n;

	if (!str_prefix(s, prefix))
		return false;
	s += strlen(prefix);
	n = strlen(s);
	return (n == 8 || n == 17) && only(s, LOWER DIGITS);
}

static bool is_tag_key(const char *s, const char *arg)
{
	(void)arg;
	if (!*s || !one_line(s, TAG_KEY_MAX) || str_prefix(s, "aws:") || str_prefix(s, "slurm-ec2:"))
		return false;
	return !str_prefix(s, "parallelcluster:") || strcmp(s, "parallelcluster:custom_resource") == 0;
}

static bool is_tag_value(const char *s, const char *arg)
{
	(void)arg;
	return one_line(s, TAG_VALUE_MAX);
}

/* arn:PARTITION:iam::ACCOUNT:<kind>/..., or the bare name. */
static bool is_iam(const char *s, const char *kind)
{
	if (!*s || !only(s, LOWER UPPER DIGITS "+=,.@_-:/") || strlen(s) > 512)
		return false;
	return str_prefix(s, "arn:") ? strstr(s, kind) != NULL : strchr(s, '/') == NULL && strchr(s, ':') == NULL;
}

static bool is_region(const char *s, const char *arg)
{
	(void)arg;
	return *s >= 'a' && *s <= 'z' && only(s, LOWER DIGITS "-") && strlen(s) <= 32 && strchr(s, '-');
}

static bool is_placement(const char *s, const char *arg)
{
	(void)arg;
	return *s && one_line(s, 255);
}

static bool is_one_line(const char *s, const char *arg)
{
	(void)arg;
	return one_line(s, TEXT_MAX);
}

static bool is_path(const char *s, const char *arg)
{
	(void)arg;
	return *s == '/' && one_line(s, TEXT_MAX);
}

static bool is_url(const char *s, const char *arg)
{
	(void)arg;
	return (str_prefix(s, "http://") || str_prefix(s, "https://")) && s[strcspn(s, " \"'\\")] == '\0' &&
	       one_line(s, TEXT_MAX) && strstr(s, "://")[3];
}

static bool is_address(const char *s, const char *arg)
{
	unsigned char out[16];

	(void)arg;
	return inet_pton(AF_INET, s, out) == 1 || inet_pton(AF_INET6, s, out) == 1;
}

/* A number of at most 7 digits, perhaps with a part after the dot, that is not 0. */
static size_t rate_number(const char *s)
{
	size_t n = strspn(s, DIGITS), more = 0;

	if (n == 0 || n > 7)
		return 0;
	if (s[n] == '.') {
		more = 1 + strspn(s + n + 1, DIGITS);
		if (more == 1 || more > 4)
			return 0;
	}
	n += more;
	return strspn(s, "0.") < n ? n : 0;
}

/* What a token bucket holds and what it gains a second. */
static bool is_rate(const char *s, const char *arg)
{
	size_t n = rate_number(s), more;

	(void)arg;
	if (str_eq(s, "none"))
		return true;
	if (n == 0 || s[n] != '/')
		return false;
	more = rate_number(s + n + 1);
	return more > 0 && s[n + 1 + more] == '\0';
}

static bool is_cluster_name(const char *s, const char *arg)
{
	(void)arg;
	return *s && only(s, LOWER UPPER DIGITS "_-.") && strlen(s) <= 60;
}

const struct rule rule_name = {
	is_name, NULL, "a lower-case letter, then lower-case letters, digits and dashes; at most 25 characters, not \"default\"",
	"queue1"};
const struct rule rule_scheduler = {is_text, "slurm", "slurm; AWS Batch is not supported", "slurm"};
const struct rule rule_itype = {is_itype, NULL, "an instance type such as c6i.large", "c6i.large"};
const struct rule rule_subnet = {is_id, "subnet-", "subnet- and 8 or 17 digits or lower-case letters",
				 "subnet-0123456789abcdef0"};
const struct rule rule_group = {is_id, "sg-", "sg- and 8 or 17 digits or lower-case letters", "sg-0123456789abcdef0"};
const struct rule rule_image = {is_id, "ami-", "ami- and 8 or 17 digits or lower-case letters", "ami-0123456789abcdef0"};
const struct rule rule_reservation = {is_id, "cr-", "cr- and 8 or 17 digits or lower-case letters", "cr-0123456789abcdef0"};
const struct rule rule_tag_key = {is_tag_key, NULL,
				  "1 to 128 characters that do not begin with aws:, slurm-ec2: or parallelcluster:", "project"};
const struct rule rule_tag_value = {is_tag_value, NULL, "at most 256 characters on one line", "value"};
const struct rule rule_profile = {is_iam, ":instance-profile/", "arn:aws:iam::ACCOUNT:instance-profile/NAME",
				  "arn:aws:iam::111122223333:instance-profile/node"};
const struct rule rule_role = {is_iam, ":role/", "arn:aws:iam::ACCOUNT:role/NAME", "arn:aws:iam::111122223333:role/node"};
const struct rule rule_region = {is_region, NULL, "a region such as us-east-1", "us-east-1"};
const struct rule rule_placement = {is_placement, NULL, "the name of a placement group, at most 255 characters", "group1"};
const struct rule rule_one_line = {is_one_line, NULL, "at most 1024 characters on one line", "text"};
const struct rule rule_path = {is_path, NULL, "an absolute path", "/etc/file"};
const struct rule rule_url = {is_url, NULL, "an address that begins with http:// or https://", "https://example.test"};
const struct rule rule_address = {is_address, NULL, "an IPv4 or IPv6 address", "10.0.0.1"};
const struct rule rule_rate = {is_rate, NULL, "SIZE/PER_SECOND, two numbers above 0 such as 1000/2, or none", "1000/2"};
const struct rule rule_cluster_name = {
	is_cluster_name, NULL, "letters, digits, dot, dash and underscore; at most 60 characters", "cluster"};
