/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_notify.c - what systemd would receive, and that nothing happens without it. */
#include "clustermgtd/notify.h"

#include "lib/base/file.h"
#include "tests/unit/test.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int listen_at(const char *path, size_t n)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int s = socket(AF_UNIX, SOCK_DGRAM, 0);

	memcpy(at.sun_path, path, n);
	assert_int_equal(bind(s, (struct sockaddr *)&at, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n)), 0);
	return s;
}

static void expect_message(int s, const char *wanted)
{
	char got[64] = "";
	ssize_t n = recv(s, got, sizeof got - 1, MSG_DONTWAIT);

	assert_int_equal(n, (ssize_t)strlen(wanted));
	assert_string_equal(got, wanted);
}

static void tells_a_socket(void **state)
{
	char *dir = test_folder(), *path = file_join(dir, "notify");
	int s = listen_at(path, strlen(path));

	(void)state;
	setenv("NOTIFY_SOCKET", path, 1);
	notify("READY=1");
	expect_message(s, "READY=1");
	close(s);
	notify("WATCHDOG=1"); /* nobody there any more: no harm */
	file_remove_tree(dir, NULL);
	free(path);
	free(dir);
}

static void tells_an_abstract_socket(void **state)
{
	char name[64];
	int s;

	(void)state;
	snprintf(name, sizeof name, "@slurm-ec2-test-%ld", (long)getpid());
	setenv("NOTIFY_SOCKET", name, 1);
	name[0] = 0;
	s = listen_at(name, strlen(name + 1) + 1);
	notify("WATCHDOG=1");
	expect_message(s, "WATCHDOG=1");
	close(s);
}

static void is_silent_outside_systemd(void **state)
{
	(void)state;
	unsetenv("NOTIFY_SOCKET");
	notify("READY=1");
	unsetenv("WATCHDOG_USEC");
	assert_true(notify_period_ms() == INT64_MAX);
	setenv("WATCHDOG_USEC", "300000000", 1);
	assert_int_equal(notify_period_ms(), 150000);
	setenv("WATCHDOG_USEC", "soon", 1);
	assert_true(notify_period_ms() == INT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(tells_a_socket),
	    cmocka_unit_test(tells_an_abstract_socket),
	    cmocka_unit_test(is_silent_outside_systemd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
