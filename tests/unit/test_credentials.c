/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_credentials.c - the shared files, as people write them. */
#include "lib/aws/credentials.h"

#include "lib/base/err.h"
#include "lib/base/file.h"
#include "lib/base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[] = "/tmp/test_credentials.XXXXXX";
static char *credentials_path, *config_path;

static const struct row {
	const char *what;
	const char *credentials, *config; /* NULL = no such file */
	const char *profile;
	int want;                         /* 1 found, 0 none, -1 error */
	const char *key, *secret, *token; /* or, of an error, `key` is a part of its text */
} rows[] = {
	{"plain", "[default]\naws_access_key_id = A1\naws_secret_access_key = S1\n", NULL, NULL, 1, "A1", "S1", NULL},
	{"token", "[default]\naws_access_key_id=A1\naws_secret_access_key=S1\naws_session_token=T=1/+==\n", NULL, NULL, 1, "A1", "S1",
	 "T=1/+=="},
	{"odd spacing", "\n  \n[ default ]\n\taws_access_key_id\t =  A1 \r\n\taws_secret_access_key=S1\t\r\n", NULL, NULL, 1, "A1", "S1",
	 NULL},
	{"no final newline", "[default]\naws_access_key_id=A1\naws_secret_access_key=S1", NULL, NULL, 1, "A1", "S1", NULL},
	{"byte order mark", "\xef\xbb\xbf[default]\naws_access_key_id=A1\naws_secret_access_key=S1\n", NULL, NULL, 1, "A1", "S1", NULL},
	{"comments", "# c\n; d\n[default]\n#aws_access_key_id=X\naws_access_key_id=A1\naws_secret_access_key=S#1;x\n", NULL, NULL, 1, "A1",
	 "S#1;x", NULL},
	{"key in capitals", "[default]\nAWS_ACCESS_KEY_ID=A1\nAws_Secret_Access_Key=S1\n", NULL, NULL, 1, "A1", "S1", NULL},
	{"other profile first", "[x]\naws_access_key_id=X\naws_secret_access_key=X\n[p]\naws_access_key_id=A1\naws_secret_access_key=S1\n"
				"[y]\naws_access_key_id=Y\n", NULL, "p", 1, "A1", "S1", NULL},
	{"profile that begins alike", "[pp]\naws_access_key_id=X\naws_secret_access_key=X\n", NULL, "p", -1, "profile p is neither", NULL,
	 NULL},
	{"section twice, last word counts", "[p]\naws_access_key_id=X\n[p]\naws_access_key_id=A1\naws_secret_access_key=S1\n", NULL, "p", 1,
	 "A1", "S1", NULL},
	{"nested block is not ours", "[default]\naws_access_key_id=A1\naws_secret_access_key=S1\ns3 =\n  aws_access_key_id = X\n", NULL,
	 NULL, 1, "A1", "S1", NULL},
	{"config file, default", NULL, "[default]\naws_access_key_id=A1\naws_secret_access_key=S1\n", NULL, 1, "A1", "S1", NULL},
	{"config file, profile", NULL, "[profile p]\naws_access_key_id=A1\naws_secret_access_key=S1\n", "p", 1, "A1", "S1", NULL},
	{"config file, spaces and quotes", NULL, "[profile   \"p\"]\naws_access_key_id=A1\naws_secret_access_key=S1\n", "p", 1, "A1", "S1",
	 NULL},
	{"config file, without the word", NULL, "[p]\naws_access_key_id=A1\naws_secret_access_key=S1\n", "p", -1, "neither", NULL, NULL},
	{"credentials file wins", "[p]\naws_access_key_id=A1\naws_secret_access_key=S1\n",
	 "[profile p]\nregion=us-east-1\naws_access_key_id=X\naws_secret_access_key=X\n", "p", 1, "A1", "S1", NULL},
	{"region only in config, keys in credentials", "[p]\naws_access_key_id=A1\naws_secret_access_key=S1\n",
	 "[profile p]\nregion=eu-west-1\n", "p", 1, "A1", "S1", NULL},
	{"no files", NULL, NULL, NULL, 0, NULL, NULL, NULL},
	{"no default in them", "[x]\naws_access_key_id=X\naws_secret_access_key=X\n", NULL, NULL, 0, NULL, NULL, NULL},
	{"named profile, no files", NULL, NULL, "p", -1, "profile p is neither", NULL, NULL},
	{"half a key", "[default]\naws_access_key_id=A1\n", NULL, NULL, -1, "only one of", NULL, NULL},
	{"empty secret", "[default]\naws_access_key_id=A1\naws_secret_access_key=\n", NULL, NULL, -1, "only one of", NULL, NULL},
	{"role_arn", NULL, "[profile p]\nrole_arn=arn:aws:iam::1:role/x\nsource_profile=default\n", "p", -1, "source_profile default", NULL,
	 NULL},
	{"credential_process", "[default]\ncredential_process=/bin/x\n", NULL, NULL, -1, "credential_process", NULL, NULL},
	{"profile without keys", "[p]\nregion=x\n", NULL, "p", -1, "no keys", NULL, NULL},
	{"rubbish", "aws_access_key_id=A\n]]\n[\n=x\n\x01\x02\n", NULL, NULL, 0, NULL, NULL, NULL},
};

static void put(const char *path, const char *text)
{
	assert_int_equal(file_remove_tree(path, NULL), 0);
	if (text)
		assert_int_equal(file_replace(path, 0600, text, strlen(text), NULL), 0);
}

static void files(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct row *r = &rows[i];
		struct credential_source s = {.credentials_file = credentials_path, .config_file = config_path};
		struct credentials c = {0};
		struct err e = {""};
		int got;

		s.profile = str_dup(r->profile);
		put(credentials_path, r->credentials);
		put(config_path, r->config);
		got = credentials_from_files(&s, &c, &e);
		if (got != r->want)
			fail_msg("%s: %d, want %d (%s)", r->what, got, r->want, e.text);
		if (got == 1) {
			assert_string_equal(c.access_key, r->key);
			assert_string_equal(c.secret, r->secret);
			assert_true(str_eq(c.token, r->token));
		} else if (got < 0 && !strstr(e.text, r->key)) {
			fail_msg("%s: \"%s\" does not say \"%s\"", r->what, e.text, r->key);
		}
		credentials_clear(&c);
		free(s.profile);
	}
}

static void secrets_stay_out_of_errors(void **state)
{
	struct credential_source s = {.credentials_file = credentials_path, .no_imds = true};
	struct credentials c = {0};
	struct err e = {""};

	(void)state;
	put(credentials_path, "[default]\naws_secret_access_key=VERYSECRET\naws_session_token=VERYSECRET\n");
	assert_int_equal(credentials_load(&s, NULL, NULL, &c, &e), -1);
	assert_null(strstr(e.text, "VERYSECRET"));
	assert_non_null(strstr(e.text, "only one of"));
}

static void named_file_must_exist(void **state)
{
	struct credential_source s = {.credentials_file = credentials_path, .no_imds = true};
	struct credentials c = {0};
	struct err e = {""};

	(void)state;
	put(credentials_path, NULL);
	assert_int_equal(credentials_load(&s, NULL, NULL, &c, &e), -1);
	assert_non_null(strstr(e.text, credentials_path));
}

static void environment_only_when_asked(void **state)
{
	struct credential_source s = {.credentials_file = credentials_path, .no_imds = true};
	struct credentials c = {0};
	struct err e = {""};

	(void)state;
	put(credentials_path, "[default]\naws_access_key_id=FILE\naws_secret_access_key=S\n");
	setenv("AWS_ACCESS_KEY_ID", "ENV", 1);
	unsetenv("AWS_SECRET_ACCESS_KEY");
	assert_int_equal(credentials_load(&s, NULL, NULL, &c, NULL), 0);
	assert_string_equal(c.access_key, "FILE");
	credentials_clear(&c);
	s.environment = true;
	assert_int_equal(credentials_load(&s, NULL, NULL, &c, &e), -1);
	assert_non_null(strstr(e.text, "AWS_SECRET_ACCESS_KEY"));
	setenv("AWS_SECRET_ACCESS_KEY", "ES", 1);
	assert_int_equal(credentials_load(&s, NULL, NULL, &c, NULL), 0);
	assert_string_equal(c.access_key, "ENV");
	assert_string_equal(c.secret, "ES");
	assert_null(c.token);
	credentials_clear(&c);
	unsetenv("AWS_ACCESS_KEY_ID");
	unsetenv("AWS_SECRET_ACCESS_KEY");
}

static void region(void **state)
{
	struct credential_source s = {.config_file = config_path};
	char *text = NULL;

	(void)state;
	put(config_path, "[default]\nregion = eu-west-1\n[profile p]\nregion=us-east-2\n");
	assert_int_equal(credentials_region(&s, &text, NULL), 1);
	assert_string_equal(text, "eu-west-1");
	free(text);
	s.profile = str_dup("p");
	assert_int_equal(credentials_region(&s, &text, NULL), 1);
	assert_string_equal(text, "us-east-2");
	free(text);
	put(config_path, "[default]\noutput=json\n");
	assert_int_equal(credentials_region(&s, &text, NULL), 0);
	free(s.profile);
}

static int setup(void **state)
{
	(void)state;
	if (!mkdtemp(dir))
		return -1;
	credentials_path = file_join(dir, "credentials");
	config_path = file_join(dir, "config");
	return credentials_path && config_path ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	free(credentials_path);
	free(config_path);
	return file_remove_tree(dir, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files),
		cmocka_unit_test(secrets_stay_out_of_errors),
		cmocka_unit_test(named_file_must_exist),
		cmocka_unit_test(environment_only_when_asked),
		cmocka_unit_test(region),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
