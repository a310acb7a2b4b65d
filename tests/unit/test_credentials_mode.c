/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_credentials_mode.c - which modes of CredentialsFile are worth a warning. */
#include "build_config.h"

#include "lib/apply/apply.h"
#include "lib/base/user.h"
#include "lib/cluster/settings.h"
#include "tests/unit/test.h"

#include <sys/stat.h>
#include <unistd.h>

static void test_modes(void **state)
{
	static const struct {
		mode_t mode;
		bool slurm_group, open;
	} rows[] = {
		{ 0600, false, false }, { 0400, false, false }, { 0640, false, true }, { 0640, true, false },
		{ 0660, true, true },   { 0644, true, true },   { 0604, true, true },  { 0602, false, true },
	};
	char path[] = "/tmp/test-credentials-XXXXXX";
	struct settings s = { .credentials_file = path };
	int fd = mkstemp(path);
	uid_t uid;
	gid_t gid;
	mode_t mode;
	bool can_chown = geteuid() == 0 && user_lookup(SLURM_USER, &uid, &gid, NULL) == 0;

	(void)state;
	assert_true(fd >= 0);
	for (size_t i = 0; i < COUNT(rows); i++) {
		if (rows[i].slurm_group && !can_chown)
			continue;
		assert_int_equal(fchown(fd, (uid_t)-1, rows[i].slurm_group ? gid : getegid()), 0);
		assert_int_equal(fchmod(fd, rows[i].mode), 0);
		if (world_credentials_open(&s, &mode) != rows[i].open)
			fail_msg("mode %04o, row %zu", (unsigned)rows[i].mode, i);
		if (rows[i].open)
			assert_int_equal(mode, rows[i].mode);
	}
	unlink(path);
	close(fd);
	assert_false(world_credentials_open(&s, &mode)); /* another one tells that it is not there */
	s.credentials_file = NULL;
	assert_false(world_credentials_open(&s, &mode));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_modes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
