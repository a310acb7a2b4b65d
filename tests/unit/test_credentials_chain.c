/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_credentials_chain.c - roles, processes, containers and the instance as sources of keys, over real sockets; and fifty
 * programs that share what one of them fetched. */
#include "lib/aws/connection.h"
#include "lib/aws/credentials_chain.h"
#include "lib/aws/ec2.h"
#include "lib/aws/imds.h"
#include "lib/aws/quotas.h"

#include "lib/base/buf.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/num.h"
#include "lib/base/proc.h"
#include "lib/base/str.h"
#include "tests/unit/http_server.h"
#include "tests/unit/test.h"

#include <dirent.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define PLENTY 60000
#define PROCESSES 50

static char url[40], tls_url[40]; /* the second is empty without openssl */
static char *dir, *pem, *credentials_path, *config_path, *share;
static struct http_server server;

/* --- the server */

/* A certificate of "localhost", signed by itself, and its key in one file. */
static void make_certificate(void)
{
	static const char openssl[] = "/usr/bin/openssl";
	const char *const argv[] = {openssl,
				    "req",
				    "-x509",
				    "-newkey",
				    "ec",
				    "-pkeyopt",
				    "ec_paramgen_curve:prime256v1",
				    "-nodes",
				    "-subj",
				    "/CN=localhost",
				    "-addext",
				    "subjectAltName=DNS:localhost",
				    "-days",
				    "2",
				    "-keyout",
				    pem,
				    "-out",
				    pem,
				    NULL};
	struct proc_result r = {0};

	if (!access(openssl, X_OK) && (proc_run(argv, NULL, PLENTY, NULL, &r, NULL) || r.exit_code))
		unlink(pem);
}

static int start_server(void)
{
	int rc = http_server_start(&server, "keys_server.py", file_exists(pem) ? pem : NULL);

	snprintf(url, sizeof url, "http://127.0.0.1:%d", server.port);
	if (server.tls_port)
		snprintf(tls_url, sizeof tls_url, "https://localhost:%d", server.tls_port);
	return rc;
}

static int asked(const char *name)
{
	char *path = str_fmt("/log/%s", name);
	struct buf b = {0};
	int64_t n;

	http_server_get(&server, path, &b);
	assert_int_equal(num_i64(buf_text(&b), 0, 1000000, &n, NULL), 0);
	buf_free(&b);
	free(path);
	return (int)n;
}

static void set_variable(const char *name, const char *value)
{
	char *path = str_fmt("/set/%s/%s", name, value);
	struct buf b = {0};

	http_server_get(&server, path, &b);
	buf_free(&b);
	free(path);
}

/* --- helpers */
static void put(const char *path, const char *text)
{
	assert_int_equal(file_remove_tree(path, NULL), 0);
	if (text)
		assert_int_equal(file_replace(path, 0600, text, strlen(text), NULL), 0);
}

static void forget_shared(void)
{
	assert_int_equal(file_remove_tree(share, NULL), 0);
}

static struct credential_source source(const char *profile)
{
	return (struct credential_source){.profile = (char *)(void *)profile,
					  .credentials_file = credentials_path,
					  .config_file = config_path,
					  .sts_endpoint = url,
					  .region = "us-east-1",
					  .route = {.proxy = "", .no_proxy = ""}};
}

static struct imds *metadata(void)
{
	struct imds *i = imds_create(url);

	assert_non_null(i);
	return i;
}

/* --- chains */
#define BASE "[base]\naws_access_key_id=BASE\naws_secret_access_key=SECRET-BASE\n"
#define ROLE(name) "role_arn=arn:aws:iam::111122223333:role/" name "\n"

static const struct row {
	const char *what, *credentials, *config;
	const char *want; /* the access key, with * for a count; or a part of the error */
	bool good;
} rows[] = {
    {"source_profile", BASE, "[profile p]\n" ROLE("a") "source_profile=base\n", "a.*.BASE", true},
    {"source in the config file", "",
     "[profile base]\naws_access_key_id=C\naws_secret_access_key=SECRET-C\n[profile p]\n" ROLE("a") "source_profile = base\n",
     "a.*.C", true},
    {"role over a role", BASE, "[profile p]\n" ROLE("b") "source_profile=q\n[profile q]\n" ROLE("a") "source_profile=base\n",
     "b.*.a.*.BASE", true},
    {"keys of the profile itself", "[p]\naws_access_key_id=OWN\naws_secret_access_key=SECRET-OWN\n",
     "[profile p]\n" ROLE("a") "source_profile=p\n", "a.*.OWN", true},
    {"a role goes before keys", "[p]\naws_access_key_id=OWN\naws_secret_access_key=SECRET-OWN\n" BASE,
     "[profile p]\n" ROLE("a") "source_profile=base\n", "a.*.BASE", true},
    {"keys of a source go before its role", BASE "[q]\naws_access_key_id=Q\naws_secret_access_key=SECRET-Q\n",
     "[profile p]\n" ROLE("a") "source_profile=q\n[profile q]\n" ROLE("b") "source_profile=base\n", "a.*.Q", true},
    {"all in the credentials file", BASE "[p]\n" ROLE("a") "source_profile=base\n", NULL, "a.*.BASE", true},
    {"the instance as source", "", "[profile p]\n" ROLE("a") "credential_source=Ec2InstanceMetadata\n", "a.*.I*", true},
    {"external id", BASE, "[profile p]\n" ROLE("external") "source_profile=base\nexternal_id=ex&1\n", "external.*.BASE", true},
    {"name and duration", BASE,
     "[profile p]\n" ROLE("named") "source_profile=base\nrole_session_name=me\nduration_seconds=3600\n", "named.*.BASE", true},
    {"throttled", BASE, "[profile p]\n" ROLE("throttled") "source_profile=base\n", "throttled.2.BASE", true},
    {"clock 20 minutes off", BASE, "[profile p]\n" ROLE("skew") "source_profile=base\n", "skew.*.BASE", true},
    {"nested block and comments", BASE,
     "# c\n[profile p]\ns3 =\n  source_profile = wrong\n" ROLE("a") "; d\nsource_profile=base\n", "a.*.BASE", true},
    {"loop of two", "", "[profile p]\n" ROLE("a") "source_profile=q\n[profile q]\n" ROLE("b") "source_profile=p\n",
     "leads back", false},
    {"loop of one", "", "[profile p]\n" ROLE("a") "source_profile=p\n", "leads back", false},
    {"loop further down", "", "[profile p]\n" ROLE("a") "source_profile=q\n[profile q]\n" ROLE("b") "source_profile=q\n",
     "leads back", false},
    {"no source", BASE, "[profile p]\n" ROLE("a"), "neither source_profile nor credential_source", false},
    {"both sources", BASE, "[profile p]\n" ROLE("a") "source_profile=base\ncredential_source=Environment\n", "has both", false},
    {"missing source", "", "[profile p]\n" ROLE("a") "source_profile=q\n", "source_profile q", false},
    {"unknown source", "", "[profile p]\n" ROLE("a") "credential_source=Cloud\n", "credential_source Cloud", false},
    {"environment of a daemon", "", "[profile p]\n" ROLE("a") "credential_source=Environment\n", "daemon", false},
    {"container of a daemon", "", "[profile p]\n" ROLE("a") "credential_source=EcsContainer\n", "daemon", false},
    {"second factor", BASE, "[profile p]\n" ROLE("a") "source_profile=base\nmfa_serial=arn:x\n", "mfa_serial", false},
    {"duration too short", BASE, "[profile p]\n" ROLE("a") "source_profile=base\nduration_seconds=60\n", "duration_seconds",
     false},
    {"denied", BASE, "[profile p]\n" ROLE("denied") "source_profile=base\n", "AccessDenied: may not assume", false},
    {"STS repeats a key", BASE, "[profile p]\n" ROLE("echo") "source_profile=base\n", "should have been ***", false},
    {"wrong secret", "[base]\naws_access_key_id=BASE\naws_secret_access_key=OTHER\n",
     "[profile p]\n" ROLE("a") "source_profile=base\n", "SignatureDoesNotMatch", false},
    {"single sign-on", "", "[profile p]\nsso_session = x\nsso_account_id = 1\n", "single sign-on", false},
    {"single sign-on below a role", "", "[profile p]\n" ROLE("a") "source_profile=q\n[profile q]\nsso_start_url=https://x\n",
     "single sign-on", false},
    {"process", "",
     "[profile p]\ncredential_process = /bin/echo '{\"Version\":1,\"AccessKeyId\":\"P\",\"SecretAccessKey\":\"s\"}'\n", "P",
     true},
    {"process, quoted in other ways", "",
     "[profile p]\ncredential_process=printf \"%s\" \"{\\\"Version\\\":1,\\\"AccessKeyId\\\":\\\"P\"\\ "
     "'2\",\"SecretAccessKey\":\"s\"}'\n",
     "P 2", true},
    {"process as source", "",
     "[profile p]\n" ROLE("a") "source_profile=q\n[profile q]\ncredential_process = /bin/echo "
			       "'{\"Version\":1,\"AccessKeyId\":\"P\",\"SecretAccessKey\":\"SECRET-P\"}'\n",
     "a.*.P", true},
    {"keys of the credentials file go before a process", "[p]\naws_access_key_id=F\naws_secret_access_key=x\n",
     "[profile p]\ncredential_process=/bin/false\n", "F", true},
    {"a process goes before keys of the config file", "",
     "[profile p]\naws_access_key_id=C\naws_secret_access_key=x\ncredential_process=/bin/false\n", "exit code 1", false},
    {"process that fails", "", "[profile p]\ncredential_process=/bin/false\n", "exit code 1", false},
    {"process that is missing", "", "[profile p]\ncredential_process=/no/such/program\n", "/no/such/program", false},
    {"process without Version", "",
     "[profile p]\ncredential_process=/bin/echo '{\"AccessKeyId\":\"P\",\"SecretAccessKey\":\"TOPSECRET\"}'\n", "Version",
     false},
    {"process without a secret", "", "[profile p]\ncredential_process=/bin/echo '{\"Version\":1,\"AccessKeyId\":\"P\"}'\n",
     "SecretAccessKey", false},
    {"process that prints no JSON", "", "[profile p]\ncredential_process=/bin/echo TOPSECRET\n", "what it prints", false},
    {"process with an odd time", "",
     "[profile p]\ncredential_process=/bin/echo '{\"Version\":1,\"AccessKeyId\":\"P\",\"SecretAccessKey\":"
     "\"TOPSECRET\",\"Expiration\":\"soon\"}'\n",
     "Expiration", false},
    {"open quote", "", "[profile p]\ncredential_process=/bin/echo 'x\n", "quote", false},
    {"no shell", "", "[profile p]\ncredential_process=/bin/echo $HOME; false | true\n", "what it prints", false},
};

/* "*" in the pattern is any run of digits. */
static bool matches(const char *text, const char *pattern)
{
	for (; *pattern; pattern++) {
		if (*pattern == '*') {
			size_t n = strspn(text, "0123456789");

			if (!n)
				return false;
			text += n;
		} else if (*text++ != *pattern) {
			return false;
		}
	}
	return !*text;
}

static void chains(void **state)
{
	struct imds *imds = metadata();

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct row *r = &rows[i];
		struct credential_source s = source("p");
		struct credentials c = {0};
		struct err e = {""};
		int rc;

		put(credentials_path, r->credentials);
		put(config_path, r->config);
		rc = credentials_load(&s, imds, NULL, &c, &e);
		if (rc != (r->good ? 0 : -1))
			fail_msg("%s: %d (%s)", r->what, rc, e.text);
		if (r->good && !matches(c.access_key, r->want))
			fail_msg("%s: %s, want %s", r->what, c.access_key, r->want);
		if (!r->good && !strstr(e.text, r->want))
			fail_msg("%s: \"%s\" does not say \"%s\"", r->what, e.text, r->want);
		assert_null(strstr(e.text, "SECRET"));
		credentials_clear(&c);
	}
	assert_int_equal(asked("role-skew"), 2); /* the clock is corrected once, and that was enough */
	imds_destroy(imds);
}

static void process_that_hangs(void **state)
{
	struct credential_source s = source("p");
	struct credentials c = {0};
	struct err e = {""};

	(void)state;
	put(credentials_path, "");
	put(config_path, "[profile p]\ncredential_process=/bin/sleep 600\n");
	assert_int_equal(credentials_load(&s, NULL, NULL, &c, &e), -1);
	assert_non_null(strstr(e.text, "took longer"));
}

/* --- a person's environment */
static void load_as_person(const char *profile, const char *want)
{
	struct credential_source s = source(profile);
	struct imds *imds = metadata();
	struct credentials c = {0};
	struct err e = {""};
	int rc;

	s.environment = true;
	rc = credentials_load(&s, imds, NULL, &c, &e);
	if (rc && !strstr(e.text, want))
		fail_msg("\"%s\" does not say \"%s\"", e.text, want);
	if (!rc && !matches(c.access_key, want))
		fail_msg("%s, want %s", c.access_key, want);
	credentials_clear(&c);
	imds_destroy(imds);
}

static void environment_sources(void **state)
{
	char *full = str_fmt("%s/container", url), *token = file_join(dir, "token");

	(void)state;
	put(credentials_path, BASE);
	put(config_path, "[profile p]\n" ROLE("a") "credential_source=Environment\n[profile q]\n" ROLE(
			     "a") "credential_source=EcsContainer\n");
	load_as_person("p", "holds no keys");
	load_as_person("q", "holds no keys");
	setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", full, 1);
	load_as_person(NULL, "HTTP 403");
	setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN", "container token", 1);
	load_as_person(NULL, "C*");
	load_as_person("q", "a.*.C*");
	put(token, "wrong");
	setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", token, 1);
	load_as_person(NULL, "HTTP 403");
	put(token, "container token");
	load_as_person(NULL, "C*");
	put(token, "two\r\nX-Header: lines");
	load_as_person(NULL, "more than one line");
	unsetenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
	unsetenv("AWS_CONTAINER_AUTHORIZATION_TOKEN");
	unsetenv("AWS_CONTAINER_CREDENTIALS_FULL_URI");

	put(token, "web token\n");
	setenv("AWS_WEB_IDENTITY_TOKEN_FILE", token, 1);
	load_as_person(NULL, "AWS_ROLE_ARN");
	setenv("AWS_ROLE_ARN", "arn:aws:iam::1:role/web", 1);
	load_as_person(NULL, "web.*.web");
	put(token, "forged");
	load_as_person(NULL, "InvalidIdentityToken");
	unsetenv("AWS_WEB_IDENTITY_TOKEN_FILE");
	unsetenv("AWS_ROLE_ARN");

	setenv("AWS_ACCESS_KEY_ID", "ENV", 1);
	setenv("AWS_SECRET_ACCESS_KEY", "SECRET-ENV", 1);
	load_as_person("base", "ENV");
	unsetenv("AWS_ACCESS_KEY_ID");
	unsetenv("AWS_SECRET_ACCESS_KEY");
	free(full);
	free(token);
}

static void hosts_of_containers(void **state)
{
	static const struct {
		const char *uri;
		bool trusted;
	} hosts[] = {
	    {"http://127.0.0.1:1/x", true},
	    {"http://127.9.9.9:1", true},
	    {"http://localhost:1/x?y=z", true},
	    {"http://LOCALHOST:1", true},
	    {"http://[::1]:1/x", true},
	    {"https://127.0.0.1:1/x", true},
	    {"http://128.0.0.1/x", false},
	    {"http://10.0.0.1/x", false},
	    {"http://127.0.0.1.example.test/x", false},
	    {"http://example.test/127.0.0.1", false},
	    {"http://127.0.0.1@example.test/", false},
	    {"http://169.254.169.254/x", false},
	    {"ftp://127.0.0.1/x", false},
	    {"127.0.0.1", false},
	    {"http://localhost.example.test", false},
	};

	(void)state;
	put(credentials_path, "");
	put(config_path, "");
	for (size_t i = 0; i < COUNT(hosts); i++) {
		setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", hosts[i].uri, 1);
		load_as_person(NULL, hosts[i].trusted ? "does not answer" : "AWS_CONTAINER_CREDENTIALS_FULL_URI");
	}
	unsetenv("AWS_CONTAINER_CREDENTIALS_FULL_URI");
	setenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "@example.test/", 1);
	load_as_person(NULL, "must begin with /");
	unsetenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
}

/* A daemon follows none of this. */
static void environment_of_a_daemon(void **state)
{
	struct credential_source s = source(NULL);
	struct imds *imds = metadata();
	struct credentials c = {0};
	char *full = str_fmt("%s/container", url);
	int before = asked("container");

	(void)state;
	put(credentials_path, "");
	put(config_path, "");
	setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", full, 1);
	setenv("AWS_WEB_IDENTITY_TOKEN_FILE", full, 1);
	assert_int_equal(credentials_load(&s, imds, NULL, &c, NULL), 0);
	assert_true(matches(c.access_key, "I*"));
	assert_int_equal(asked("container"), before);
	unsetenv("AWS_CONTAINER_CREDENTIALS_FULL_URI");
	unsetenv("AWS_WEB_IDENTITY_TOKEN_FILE");
	credentials_clear(&c);
	imds_destroy(imds);
	free(full);
}

/* --- sharing */
static struct aws *connect_sharing(const char *profile)
{
	struct aws_config c = {.region = "us-east-1",
			       .endpoint = url,
			       .imds_endpoint = url,
			       .share_dir = share,
			       .profile = profile,
			       .credentials_file = profile ? credentials_path : NULL,
			       .config_file = profile ? config_path : NULL};
	struct aws *a = aws_create(&c, NULL);

	assert_non_null(a);
	return a;
}

static int describe_n(struct aws *a, size_t n, struct err *e)
{
	static const char *const value = "x";
	struct ec2_call *calls[64];
	int rc;

	assert_true(n <= COUNT(calls));
	for (size_t i = 0; i < n; i++)
		calls[i] = ec2_describe_by("tag:x", &value, 1);
	rc = ec2_perform(a, calls, n, clock_mono_ms() + PLENTY, NULL, NULL);
	if (rc && e)
		err_set(e, "%s: %s", calls[0]->error.code, calls[0]->error.message);
	for (size_t i = 0; i < n; i++)
		ec2_call_destroy(calls[i]);
	return rc;
}

/* All begin at one moment; each makes one EC2 call. */
static void fifty(const char *profile)
{
	int go[2];
	char c;

	assert_int_equal(pipe(go), 0);
	for (int i = 0; i < PROCESSES; i++) {
		struct aws *a;

		if (fork())
			continue;
		close(go[1]);
		a = connect_sharing(profile);
		if (read(go[0], &c, 1) != 0)
			_exit(2);
		_exit(describe_n(a, 1, NULL) ? 1 : 0);
	}
	close(go[0]);
	close(go[1]);
	for (int i = 0; i < PROCESSES; i++) {
		int status;

		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
}

static void fifty_ask_the_instance_once(void **state)
{
	int before = asked("imds-keys"), calls = asked("ec2");

	(void)state;
	forget_shared();
	fifty(NULL);
	assert_int_equal(asked("imds-keys"), before + 1);
	assert_int_equal(asked("ec2"), calls + PROCESSES);
}

static void fifty_ask_sts_once(void **state)
{
	(void)state;
	forget_shared();
	put(credentials_path, BASE);
	put(config_path, "[profile p]\n" ROLE("slow") "source_profile=base\n");
	fifty("p");
	assert_int_equal(asked("role-slow"), 1);
}

static void fifty_run_a_process_once(void **state)
{
	char *program = file_join(dir, "process"), *runs = file_join(dir, "runs"), *text, until[25];
	struct stat st;

	(void)state;
	forget_shared();
	clock_iso(clock_wall_ms() + 3600000, until);
	text = str_fmt(
	    "#!/bin/sh\necho noise >&2\nprintf x >>%s\necho '{\"Version\":1,\"AccessKeyId\":\"PROC\",\"SecretAccessKey\":"
	    "\"SECRET-PROC\",\"SessionToken\":\"t\",\"Expiration\":\"%.19s+00:00\"}'\n",
	    runs, until);
	assert_int_equal(file_replace(program, 0700, text, strlen(text), NULL), 0);
	free(text);
	text = str_fmt("[profile p]\ncredential_process = '%s' arg\n", program);
	put(credentials_path, "");
	put(config_path, text);
	fifty("p");
	assert_int_equal(stat(runs, &st), 0);
	assert_int_equal(st.st_size, 1);
	free(text);
	free(program);
	free(runs);
}

/* The one file of shared keys; caller frees. */
static char *shared_file(const char *kind)
{
	DIR *d = opendir(share);
	const struct dirent *f;
	char *path = NULL;

	assert_non_null(d);
	while ((f = readdir(d)))
		if (str_prefix(f->d_name, kind) && !strchr(f->d_name, '.')) {
			assert_null(path);
			path = file_join(share, f->d_name);
		}
	closedir(d);
	assert_non_null(path);
	return path;
}

/* Keys through share_dir, as one program after another gets them. */
static void expect_key(const char *profile, const struct credentials *refused, const char *want)
{
	struct credential_source s = source(profile);
	struct imds *imds = metadata();
	struct credentials c = {0};
	struct err e = {""};

	s.share_dir = share;
	if (credentials_load(&s, imds, refused, &c, &e))
		fail_msg("%s", e.text);
	if (strcmp(c.access_key, want))
		fail_msg("%s, want %s", c.access_key, want);
	credentials_clear(&c);
	imds_destroy(imds);
}

static void damaged_shared_keys(void **state)
{
	static const char *const texts[] = {"",
					    "{",
					    "[]",
					    "{\"Version\":1}",
					    "\x00\x01",
					    "{\"Version\":1,\"AccessKeyId\":\"EVIL\","
					    "\"SecretAccessKey\":\"x\",\"Expiration\":\"2001-01-01T00:00:00Z\"}",
					    "{\"Version\":1,\"AccessKeyId\":\"EVIL\",\"SecretAccessKey\":\"x\"}"};
	const char *good =
	    "{\"Version\":1,\"AccessKeyId\":\"EVIL\",\"SecretAccessKey\":\"x\",\"Expiration\":\"2999-01-01T00:00:00Z\"}";
	char want[40], *path;
	struct stat st;
	int n = 1;

	(void)state;
	forget_shared();
	put(credentials_path, BASE);
	put(config_path, "[profile p]\n" ROLE("file") "source_profile=base\n");
	expect_key("p", NULL, "file.1.BASE");
	path = shared_file("role-");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	expect_key("p", NULL, "file.1.BASE");
	for (size_t i = 0; i < COUNT(texts); i++) {
		put(path, texts[i]);
		snprintf(want, sizeof want, "file.%d.BASE", ++n);
		expect_key("p", NULL, want);
		expect_key("p", NULL, want); /* it was replaced */
	}
	put(path, good);
	expect_key("p", NULL, "EVIL"); /* our user's own, closed to others: taken */
	assert_int_equal(chmod(path, 0640), 0);
	snprintf(want, sizeof want, "file.%d.BASE", ++n);
	expect_key("p", NULL, want);
	if (geteuid() == 0) {
		put(path, good);
		assert_int_equal(chown(path, 1, 1), 0);
		snprintf(want, sizeof want, "file.%d.BASE", ++n);
		expect_key("p", NULL, want);
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(st.st_uid, 0);
	}
	free(path);
}

static void refused_shared_keys(void **state)
{
	char key[] = "again.1.BASE", secret[] = "SECRET-again.1.BASE", token[] = "TOKEN";
	struct credentials refused = {key, secret, token, 0};

	(void)state;
	forget_shared();
	put(credentials_path, BASE);
	put(config_path, "[profile p]\n" ROLE("again") "source_profile=base\n");
	expect_key("p", NULL, "again.1.BASE");
	expect_key("p", NULL, "again.1.BASE");
	expect_key("p", &refused, "again.2.BASE");
	expect_key("p", NULL, "again.2.BASE");
	expect_key("p", &refused, "again.2.BASE"); /* another program has renewed already */
}

/* Keys with 11 minutes left are still shared, but renewed by who can; with 5 minutes left each program fetches its own. */
static void keys_near_their_end(void **state)
{
	(void)state;
	forget_shared();
	put(credentials_path, BASE);
	put(config_path,
	    "[profile p]\n" ROLE("short") "source_profile=base\n[profile q]\n" ROLE("tiny") "source_profile=base\n");
	expect_key("p", NULL, "short.1.BASE");
	expect_key("p", NULL, "short.2.BASE");
	expect_key("q", NULL, "tiny.1.BASE");
	expect_key("q", NULL, "tiny.2.BASE");
}

/* STS is away: keys that still live are better than none. */
static void write_old_keys(const char *path, int minutes)
{
	char until[25], *text;

	clock_iso(clock_wall_ms() + minutes * 60000, until);
	text = str_fmt("{\"Version\":1,\"AccessKeyId\":\"OLD\",\"SecretAccessKey\":\"x\",\"Expiration\":\"%s\"}", until);
	put(path, text);
	free(text);
}

static void sharing_outlives_sts(void **state)
{
	struct credential_source s = source("p");
	struct credentials c = {0};
	char *path;

	(void)state;
	forget_shared();
	put(credentials_path, BASE);
	put(config_path, "[profile p]\n" ROLE("away") "source_profile=base\n");
	s.share_dir = share;
	assert_int_equal(credentials_load(&s, NULL, NULL, &c, NULL), 0);
	credentials_clear(&c);
	path = shared_file("role-");
	put(credentials_path, "[base]\naws_access_key_id=BASE\naws_secret_access_key=WRONG\n"); /* so STS refuses */
	write_old_keys(path, 12);
	assert_int_equal(credentials_load(&s, NULL, NULL, &c, NULL), 0);
	assert_string_equal(c.access_key, "OLD");
	credentials_clear(&c);
	write_old_keys(path, 5); /* too little time to begin something with */
	assert_int_equal(credentials_load(&s, NULL, NULL, &c, NULL), -1);
	free(path);
}

/* The metadata service serves keys that are already over: they are used, and asked for again after minutes. */
static void stale_instance_keys(void **state)
{
	struct credential_source s = source(NULL);
	struct imds *imds = metadata();
	struct credentials c = {0};
	int64_t left_ms;

	(void)state;
	put(credentials_path, "");
	put(config_path, "");
	set_variable("imds_left_s", "-60");
	assert_int_equal(credentials_load(&s, imds, NULL, &c, NULL), 0);
	left_ms = c.expires_ms - clock_wall_ms() - CREDENTIALS_TRY_MS;
	assert_true(left_ms > 100 * 1000 && left_ms <= 600 * 1000);
	set_variable("imds_left_s", "21600");
	credentials_clear(&c);
	imds_destroy(imds);
}

/* --- keys that expire while calls are in the air */
static void expired_in_mid_run(void **state)
{
	struct aws *a;
	struct err e = {""};

	(void)state;
	forget_shared();
	put(credentials_path, BASE);
	put(config_path, "[profile p]\n" ROLE("mid") "source_profile=base\n");
	a = connect_sharing("p");
	assert_int_equal(describe_n(a, 1, NULL), 0);
	assert_int_equal(asked("role-mid"), 1);
	set_variable("expired", "mid.1.BASE");
	if (describe_n(a, 40, &e))
		fail_msg("%s", e.text);
	assert_int_equal(asked("role-mid"), 2); /* forty refusals, one renewal */
	assert_int_equal(asked("ec2-mid.2.BASE"), 40);
	aws_destroy(a);
	a = connect_sharing("p"); /* the file has the new ones */
	assert_int_equal(describe_n(a, 1, NULL), 0);
	assert_int_equal(asked("role-mid"), 2);
	aws_destroy(a);
	set_variable("expired", "");
}

/* The base keys ran out too, and those are shared keys of the instance. */
static void expired_base_of_a_role(void **state)
{
	char key[40];
	int n;

	(void)state;
	forget_shared();
	put(credentials_path, "");
	put(config_path, "[profile p]\n" ROLE("based") "credential_source=Ec2InstanceMetadata\n");
	n = asked("imds-keys") + 1;
	snprintf(key, sizeof key, "based.1.I%d", n);
	expect_key("p", NULL, key);
	snprintf(key, sizeof key, "I%d", n);
	set_variable("expired", key);
	put(config_path, "[profile p]\nrole_session_name=other\n" ROLE("based") "credential_source=Ec2InstanceMetadata\n");
	snprintf(key, sizeof key, "based.3.I%d", n + 1);
	expect_key("p", NULL, key);
	set_variable("expired", "");
}

/* Keys that stay refused are fetched again once a run, not once a call, and the next run looks anew. */
static void refused_for_good(void **state)
{
	struct aws *a;
	int before;

	(void)state;
	put(credentials_path, "[p]\naws_access_key_id=DEAD\naws_secret_access_key=SECRET-DEAD\n");
	put(config_path, NULL);
	set_variable("expired", "DEAD");
	a = connect_sharing("p");
	before = asked("ec2");
	assert_int_equal(describe_n(a, 5, NULL), -1);
	assert_int_equal(asked("ec2"), before + 5);
	put(credentials_path, "[p]\naws_access_key_id=ALIVE\naws_secret_access_key=SECRET-ALIVE\n");
	assert_int_equal(describe_n(a, 5, NULL), 0);
	aws_destroy(a);
	set_variable("expired", "");
}

/* --- Service Quotas */
static void quotas(void **state)
{
	struct aws_quotas q;
	struct err e = {""};
	struct aws *a;

	(void)state;
	forget_shared();
	put(credentials_path, BASE);
	put(config_path, "[profile p]\n" ROLE("quota") "source_profile=base\n");
	a = connect_sharing("p");
	if (aws_quotas(a, "ec2", &q, clock_mono_ms() + PLENTY, &e))
		fail_msg("%s", e.text);
	assert_int_equal(q.n, 3);
	assert_string_equal(aws_quotas_find(&q, "L-2")->name, "name 2");
	assert_true(aws_quotas_find(&q, "L-2")->value == 96);
	assert_null(aws_quotas_find(&q, "L-3"));
	aws_quotas_clear(&q);
	set_variable("expired", "quota.1.BASE");
	assert_int_equal(aws_quotas(a, "ec2", &q, clock_mono_ms() + PLENTY, &e), 0);
	assert_int_equal(asked("role-quota"), 2);
	aws_quotas_clear(&q);
	set_variable("expired", "");
	assert_int_equal(aws_quotas(a, "denied", &q, clock_mono_ms() + PLENTY, &e), -1);
	assert_string_equal(e.text, "ListServiceQuotas: AccessDeniedException: User is not authorized");
	assert_int_equal(aws_quotas(a, "odd", &q, clock_mono_ms() + 300, &e), -1);
	assert_non_null(strstr(e.text, "UnreadableAnswer"));
	assert_int_equal(q.n, 0);
	aws_destroy(a);
}

/* --- endpoints and the way there */
static void check_endpoint(const struct aws_config *c, enum aws_service service, const char *want)
{
	struct aws *a = aws_create(c, NULL);
	struct endpoint ep = {0};
	struct err e = {""};

	assert_non_null(a);
	if (connection_endpoint(a, service, &ep, &e))
		fail_msg("%s", e.text);
	assert_string_equal(ep.host, want);
	endpoint_clear(&ep);
	aws_destroy(a);
}

static void endpoints(void **state)
{
	struct aws_config c = {.region = "eu-west-1", .config_file = config_path, .credentials_file = credentials_path};

	(void)state;
	put(credentials_path, "");
	put(config_path,
	    "[default]\nendpoint_url=http://all:1\nservices=s\n[services s]\nec2 =\n  endpoint_url = http://files:2\n"
	    "service_quotas=\n  endpoint_url=http://quota:3\n");
	check_endpoint(&c, SERVICE_EC2, "ec2.eu-west-1.amazonaws.com");
	c.person = true;
	check_endpoint(&c, SERVICE_EC2, "files:2");
	check_endpoint(&c, SERVICE_STS, "all:1");
	check_endpoint(&c, SERVICE_QUOTAS, "quota:3");
	setenv("AWS_ENDPOINT_URL", "http://env:4", 1);
	setenv("AWS_ENDPOINT_URL_STS", "http://sts:5", 1);
	check_endpoint(&c, SERVICE_EC2, "env:4");
	check_endpoint(&c, SERVICE_STS, "sts:5");
	setenv("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true", 1);
	check_endpoint(&c, SERVICE_EC2, "ec2.eu-west-1.amazonaws.com");
	setenv("AWS_USE_FIPS_ENDPOINT", "true", 1);
	setenv("AWS_USE_DUALSTACK_ENDPOINT", "true", 1);
	check_endpoint(&c, SERVICE_STS, "sts-fips.eu-west-1.api.aws");
	c.person = false;
	check_endpoint(&c, SERVICE_STS, "sts.eu-west-1.amazonaws.com");
	c.endpoint = "http://cloud:6";
	check_endpoint(&c, SERVICE_STS, "cloud:6"); /* not AWS: one address for all */
	check_endpoint(&c, SERVICE_QUOTAS, "cloud:6");
	c.sts_endpoint = "https://sts:7";
	check_endpoint(&c, SERVICE_STS, "sts:7");
	c.sts_endpoint = NULL;
	c.endpoint = "https://vpce-1.ec2.eu-west-1.vpce.amazonaws.com";
	check_endpoint(&c, SERVICE_EC2, "vpce-1.ec2.eu-west-1.vpce.amazonaws.com");
	check_endpoint(&c, SERVICE_STS, "sts.eu-west-1.amazonaws.com");
	unsetenv("AWS_ENDPOINT_URL");
	unsetenv("AWS_ENDPOINT_URL_STS");
	unsetenv("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS");
	unsetenv("AWS_USE_FIPS_ENDPOINT");
	unsetenv("AWS_USE_DUALSTACK_ENDPOINT");
}

/* A proxy where nobody listens shows which way a request took. */
static void proxy_and_no_proxy(void **state)
{
	static const struct {
		const char *proxy, *no_proxy;
		bool direct;
	} ways[] = {
	    {NULL, NULL, true},
	    {"http://127.0.0.1:1", NULL, false},
	    {"http://127.0.0.1:1", "", false},
	    {"http://127.0.0.1:1", "example.test", false},
	    {"http://127.0.0.1:1", "127.0.0.1", true},
	    {"http://127.0.0.1:1", "example.test,127.0.0.1", true},
	    {"http://127.0.0.1:1", "*", true},
	    {"http://127.0.0.1:1", "127.0.0.0/8", true},
	    {"http://127.0.0.1:1", "10.0.0.0/8", false},
	};

	(void)state;
	forget_shared();
	put(credentials_path, BASE);
	setenv("no_proxy", "*", 1); /* of the environment: never a daemon's word */
	for (size_t i = 0; i < COUNT(ways); i++) {
		struct aws_config c = {.region = "us-east-1",
				       .endpoint = url,
				       .profile = "base",
				       .credentials_file = credentials_path,
				       .proxy = ways[i].proxy,
				       .no_proxy = ways[i].no_proxy};
		const char *value = "x";
		struct ec2_call *call = ec2_describe_by("tag:x", &value, 1);
		struct aws *a = aws_create(&c, NULL);

		assert_non_null(a);
		if (ec2_perform_one(a, call, clock_mono_ms() + (ways[i].direct ? PLENTY : 300), NULL) !=
		    (ways[i].direct ? 0 : -1))
			fail_msg("proxy %s, no proxy %s", ways[i].proxy, ways[i].no_proxy);
		ec2_call_destroy(call);
		aws_destroy(a);
	}
	unsetenv("no_proxy");
}

/* The metadata service is asked directly, whatever the proxy. */
static void metadata_without_proxy(void **state)
{
	struct aws_config c = {
	    .endpoint = "http://127.0.0.1:1", .imds_endpoint = url, .region = "us-east-1", .proxy = "http://127.0.0.1:1"};
	struct aws *a = aws_create(&c, NULL);
	struct err e = {""};

	(void)state;
	assert_non_null(a);
	if (connection_ready(a, &e))
		fail_msg("%s", e.text);
	aws_destroy(a);
}

/* --- certificates */

/* The name under which OpenSSL looks for the certificate in a folder; caller frees. */
static char *hashed_name(const char *folder)
{
	const char *const argv[] = {"/usr/bin/openssl", "x509", "-hash", "-noout", "-in", pem, NULL};
	struct proc_result r = {0};
	struct buf b = {0};
	char *name;

	assert_int_equal(proc_run(argv, NULL, PLENTY, &b, &r, NULL), 0);
	name = str_fmt("%s/%.8s.0", folder, buf_text(&b));
	buf_free(&b);
	return name;
}

static void over_tls(const char *endpoint, const char *ca, const char *want_code)
{
	struct aws_config c = {.region = "us-east-1",
			       .endpoint = endpoint,
			       .profile = "base",
			       .credentials_file = credentials_path,
			       .ca_bundle = ca};
	const char *value = "x";
	struct ec2_call *call = ec2_describe_by("tag:x", &value, 1);
	struct aws *a = aws_create(&c, NULL);

	assert_non_null(a);
	ec2_perform_one(a, call, clock_mono_ms() + PLENTY, NULL);
	if (strcmp(call->error.code, want_code))
		fail_msg("%s with %s: %s %s", endpoint, ca ? ca : "the system's certificates", call->error.code,
			 call->error.message);
	ec2_call_destroy(call);
	aws_destroy(a);
}

static void certificates(void **state)
{
	char *folder = file_join(dir, "certs"), *empty = file_join(dir, "none"), *name, *by_number;

	(void)state;
	if (!*tls_url)
		skip();
	put(credentials_path, BASE);
	assert_int_equal(file_mkdirs(folder, 0700, NULL), 0);
	assert_int_equal(file_mkdirs(empty, 0700, NULL), 0);
	name = hashed_name(folder);
	assert_int_equal(symlink(pem, name), 0);
	by_number = str_fmt("https://127.0.0.1%s", strrchr(tls_url, ':'));
	over_tls(tls_url, pem, "");
	over_tls(tls_url, folder, "");
	over_tls(tls_url, NULL, "CertificateFailure");
	over_tls(tls_url, empty, "CertificateFailure");
	over_tls(by_number, pem, "CertificateFailure"); /* it is not that host's */
	free(folder);
	free(empty);
	free(name);
	free(by_number);
}

/* --- rates */
static struct ec2_call *launch(int n, const char *token)
{
	struct ec2_run r = {
	    .template_id = "lt-1", .template_version = 1, .min_count = n, .max_count = n, .client_token = token};
	struct ec2_call *c = ec2_run_instances(&r);

	assert_non_null(c);
	return c;
}

static const char *launch_code(struct aws *a, int n, const char *token)
{
	static char code[80];
	struct ec2_call *c = launch(n, token);

	ec2_perform_one(a, c, clock_mono_ms() + 2000, NULL);
	snprintf(code, sizeof code, "%s", c->error.code);
	ec2_call_destroy(c);
	return code;
}

/* Two programs, one bucket: what one has spent the other cannot; a refused launch gives its instances back, and what is larger
 * than the bucket can go when it is full. */
static void launches_share_their_rate(void **state)
{
	struct aws_config c = {.region = "us-east-1",
			       .endpoint = url,
			       .profile = "base",
			       .credentials_file = credentials_path,
			       .share_dir = share,
			       .rates = {.launch_requests = {100, 100}, .launch_instances = {10, 0.001}}};
	struct aws *a = aws_create(&c, NULL), *b = aws_create(&c, NULL);

	(void)state;
	assert_true(a && b);
	forget_shared();
	put(credentials_path, BASE);
	assert_string_equal(launch_code(a, 8, "ice"), "InsufficientInstanceCapacity");
	assert_string_equal(launch_code(b, 8, "t1"), "");
	assert_string_equal(launch_code(a, 3, "t2"), "DeadlineReached");
	assert_string_equal(launch_code(b, 2, "t3"), "");
	assert_string_equal(launch_code(b, 1, "t4"), "DeadlineReached");
	forget_shared();
	aws_destroy(a);
	aws_destroy(b);
	a = aws_create(&c, NULL);
	b = aws_create(&c, NULL);
	assert_string_equal(launch_code(a, 15, "t5"), "");
	assert_string_equal(launch_code(b, 1, "t6"), "DeadlineReached");
	aws_destroy(a);
	aws_destroy(b);
}

/* Instances that EC2 did not give in a good answer are not paid for: neither a fleet's nor those above the least number. */
static void short_answers_are_not_paid_for(void **state)
{
	static const struct ec2_fleet_choice choice = {"c5.large", "subnet-1", 0, -1};
	struct ec2_fleet f = {.template_id = "lt-1", .template_version = 1, .choices = &choice, .n_choices = 1, .total = 8,
			      .capacity = "on-demand", .client_token = "f"};
	struct aws_config c = {.region = "us-east-1",
			       .endpoint = url,
			       .profile = "base",
			       .credentials_file = credentials_path,
			       .rates = {.launch_requests = {100, 100}, .launch_instances = {10, 0.001}}};
	struct aws *a = aws_create(&c, NULL);
	struct ec2_call *fleet = ec2_create_fleet(&f);

	(void)state;
	assert_true(a && fleet);
	put(credentials_path, BASE);
	assert_int_equal(ec2_perform_one(a, fleet, clock_mono_ms() + PLENTY, NULL), 0);
	assert_int_equal(ec2_launch_reply(fleet)->n_errors, 1);
	assert_string_equal(launch_code(a, 8, "few"), "");
	assert_string_equal(launch_code(a, 9, "t8"), "");
	assert_string_equal(launch_code(a, 1, "t9"), "DeadlineReached");
	ec2_call_destroy(fleet);
	aws_destroy(a);
}

/* Keys that come after the deadline: a launch sent then would be one whose answer nobody waits for. */
static void keys_that_come_too_late(void **state)
{
	struct aws *a;
	struct ec2_call *c = launch(1, "late");
	int before = asked("ec2");

	(void)state;
	put(credentials_path, "");
	put(config_path, "[profile p]\ncredential_process=/bin/sh -c 'sleep 0.5; echo \"{\\\"Version\\\":1,\\\"AccessKeyId\\\":"
			 "\\\"P\\\",\\\"SecretAccessKey\\\":\\\"SECRET-P\\\"}\"'\n");
	forget_shared();
	a = connect_sharing("p");
	assert_int_equal(ec2_perform_one(a, c, clock_mono_ms() + 200, NULL), -1);
	assert_string_equal(c->error.code, "DeadlineReached");
	assert_false(c->sent);
	assert_int_equal(asked("ec2"), before);
	ec2_call_destroy(c);
	aws_destroy(a);
}

/* EC2 throttles one of them: the other holds back too. */
static void throttling_is_shared(void **state)
{
	struct aws_config c = {.region = "us-east-1",
			       .endpoint = url,
			       .profile = "base",
			       .credentials_file = credentials_path,
			       .share_dir = share,
			       .rates = {.launch_requests = {5, 0.001}, .launch_instances = {-1, 0}}};
	struct aws *a = aws_create(&c, NULL), *b = aws_create(&c, NULL);

	(void)state;
	assert_true(a && b);
	put(credentials_path, BASE);
	forget_shared();
	assert_string_equal(launch_code(a, 1, "throttle"), "RequestLimitExceeded");
	assert_string_equal(launch_code(b, 1, "t7"), "DeadlineReached");
	aws_destroy(a);
	aws_destroy(b);
}

static int setup(void **state)
{
	(void)state;
	dir = test_folder();
	credentials_path = file_join(dir, "credentials");
	config_path = file_join(dir, "config");
	share = file_join(dir, "share");
	pem = file_join(dir, "localhost.pem");
	make_certificate();
	setenv("HOME", dir, 1);
	return credentials_path && config_path && share ? start_server() : -1;
}

static int teardown(void **state)
{
	(void)state;
	http_server_stop(&server);
	free(credentials_path);
	free(config_path);
	free(share);
	free(pem);
	file_remove_tree(dir, NULL);
	free(dir);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(chains),
	    cmocka_unit_test(process_that_hangs),
	    cmocka_unit_test(environment_sources),
	    cmocka_unit_test(hosts_of_containers),
	    cmocka_unit_test(environment_of_a_daemon),
	    cmocka_unit_test(fifty_ask_the_instance_once),
	    cmocka_unit_test(fifty_ask_sts_once),
	    cmocka_unit_test(fifty_run_a_process_once),
	    cmocka_unit_test(damaged_shared_keys),
	    cmocka_unit_test(refused_shared_keys),
	    cmocka_unit_test(keys_near_their_end),
	    cmocka_unit_test(sharing_outlives_sts),
	    cmocka_unit_test(stale_instance_keys),
	    cmocka_unit_test(expired_in_mid_run),
	    cmocka_unit_test(expired_base_of_a_role),
	    cmocka_unit_test(refused_for_good),
	    cmocka_unit_test(quotas),
	    cmocka_unit_test(endpoints),
	    cmocka_unit_test(proxy_and_no_proxy),
	    cmocka_unit_test(metadata_without_proxy),
	    cmocka_unit_test(certificates),
	    cmocka_unit_test(launches_share_their_rate),
	    cmocka_unit_test(short_answers_are_not_paid_for),
	    cmocka_unit_test(keys_that_come_too_late),
	    cmocka_unit_test(throttling_is_shared),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
