/* SPDX-License-Identifier: GPL-2.0-or-later */
/* apply_scratch.c - the new Slurm files, tried by a slurmctld of their own before the real one sees them.
 *
 * It runs from a private copy of Slurm's folder, with another port, state folder, pid and log file, without accounting, with
 * /bin/true for the power programs, and with a slurmd port where nobody listens: so it can neither start machines nor bother
 * nodes. A slurmctld that would end on the new files is found here, where it costs nothing.
 */
#include "build_config.h"

#include "cli/apply_job.h"
#include "cli/interrupt.h"
#include "cli/trial_folder.h"
#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/file.h"
#include "lib/base/proc.h"
#include "lib/base/user.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define START_LIMIT_MS 60000
#define POLL_MS 50
#define END_GRACE_MS 10000
#define COPY_MAX (16u << 20)
#define CLOSED_PORT 1 /* tcpmux: nobody listens there */
#define LINES_SHOWN 8

/* --- the folder */

static bool replaced(const struct apply_job *j, const char *path)
{
	for (size_t i = 0; i < j->n_install; i++) {
		if (str_eq(j->install[i].path, path))
			return true;
	}
	return false;
}

/* Root's, and readable for SlurmUser, whose group it gets: who could write there could have slurmctld run anything as root. */
static int write_file(const char *dir, const char *name, const struct buf *b, gid_t gid, struct err *e)
{
	char *to = file_join(dir, name);
	int rc = to ? file_replace_as(to, 0640, 0, gid, buf_text(b), b->n, e) : err_nomem(e);

	free(to);
	return rc;
}

static int copy_file(const char *from, const char *dir, const char *name, gid_t gid, struct err *e)
{
	struct buf b = { 0 };
	int rc = file_read(from, COPY_MAX, &b, e);

	if (rc == 0)
		rc = write_file(dir, name, &b, gid, e);
	buf_free(&b);
	return rc;
}

/* What SlurmUser cannot read (slurmdbd.conf, keys) slurmctld cannot need. */
static bool wanted(const struct apply_job *j, const char *path)
{
	struct stat st;
	bool readable;

	if (stat(path, &st) || !S_ISREG(st.st_mode) || st.st_size > COPY_MAX || replaced(j, path))
		return false;
	if (user_become(j->gen->slurm_user, NULL))
		return false;
	readable = faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) == 0;
	user_restore();
	return readable;
}

/* The site's other files beside slurm.conf. */
static int copy_site(const struct apply_job *j, const char *dir, gid_t gid, struct err *e)
{
	char *folder = apply_beside(j->slurm_conf, ".");
	DIR *d = folder ? opendir(folder) : NULL;
	struct dirent *entry;
	int rc = d ? 0 : err_errno(e, errno, "%s", folder ? folder : j->slurm_conf);

	while (rc == 0 && d && (entry = readdir(d))) {
		char *path = apply_beside(j->slurm_conf, entry->d_name);

		if (!path)
			rc = err_nomem(e);
		else if (wanted(j, path))
			rc = copy_file(path, dir, entry->d_name, gid, e);
		free(path);
	}
	if (d)
		closedir(d);
	free(folder);
	return rc;
}

/* --- slurm.conf of the scratch run */

static int free_port(struct err *e)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t n = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), port = -1;

	if (fd >= 0 && bind(fd, (struct sockaddr *)&a, sizeof(a)) == 0 && getsockname(fd, (struct sockaddr *)&a, &n) == 0)
		port = ntohs(a.sin_port);
	else
		err_errno(e, errno, "no free TCP port");
	if (fd >= 0)
		close(fd);
	return port;
}

/* Blank out one pair, its name included. */
static void blank_pair(char *text, const struct site_key *k)
{
	size_t from = k->off, to = k->off + k->len;

	if (from > 0 && (text[from - 1] == '"' || text[from - 1] == '\''))
		from--;
	if (text[to] == '"' || text[to] == '\'')
		to++;
	while (from > 0 && text[from - 1] != '=')
		from--;
	from--;
	while (from > 0 && (text[from - 1] == ' ' || text[from - 1] == '\t' || text[from - 1] == '+'))
		from--;
	from -= strlen(k->name);
	memset(text + from, ' ', to - from);
}

static const char *const overridden[] = {
	"SlurmctldPort", "SlurmdPort",	   "SlurmctldPidFile",	     "SlurmctldLogFile",	"StateSaveLocation",
	"ResumeProgram", "SuspendProgram", "ResumeFailProgram",	     "AccountingStorageType",	"AccountingStorageEnforce",
	"JobCompType",	 "SlurmctldDebug", "SlurmctldPrimaryOnProg", "SlurmctldPrimaryOffProg",
};

/* Without the pairs that the scratch run sets itself. Caller frees. */
static char *strip(const char *path, const char *text)
{
	struct site s = { 0 };
	char *out = NULL;

	if (site_add(&s, path, text) == 0)
		out = str_dup(text);
	for (size_t i = 0; out && i < s.n_keys; i++) {
		for (size_t k = 0; k < sizeof(overridden) / sizeof(overridden[0]); k++) {
			if (strcasecmp(s.key[i].name, overridden[k]) == 0)
				blank_pair(out, &s.key[i]);
		}
	}
	site_clear(&s);
	return out;
}

static int write_text(const char *dir, const char *path, const char *text, const char *more, gid_t gid, struct err *e)
{
	char *clean = strip(path, text);
	struct buf b = { 0 };
	int rc;

	buf_str(&b, clean);
	buf_str(&b, more);
	rc = clean && !buf_failed(&b) ? write_file(dir, strrchr(path, '/') + 1, &b, gid, e) : err_nomem(e);
	buf_free(&b);
	free(clean);
	return rc;
}

static char *overrides(const char *dir, int port)
{
	return str_fmt(
		"\nSlurmctldPort=%d\nSlurmdPort=%d\nSlurmctldPidFile=%s/state/slurmctld.pid\nSlurmctldLogFile=%s/state/slurmctld.log\n"
		"StateSaveLocation=%s/state\nResumeProgram=/bin/true\nSuspendProgram=/bin/true\nResumeFailProgram=/bin/true\n"
		"AccountingStorageType=accounting_storage/none\nSlurmctldDebug=info\n",
		port, CLOSED_PORT, dir, dir, dir);
}

static int write_ours(const struct apply_job *j, const char *dir, int port, gid_t gid, struct err *e)
{
	char *more = overrides(dir, port);
	int rc = more ? 0 : err_nomem(e);

	for (size_t i = 0; i < j->n_install && rc == 0; i++) {
		const struct apply_file *f = &j->install[i];

		if (f->new_text)
			rc = write_text(dir, f->path, f->new_text, str_eq(f->path, j->slurm_conf) ? more : "", gid, e);
	}
	free(more);
	return rc;
}

static int fill_folder(const struct apply_job *j, const char *dir, int port, struct err *e)
{
	char *state = file_join(dir, "state");
	uid_t uid;
	gid_t gid;
	int rc = state ? user_lookup(j->gen->slurm_user, &uid, &gid, e) : err_nomem(e);

	if (rc == 0)
		rc = file_mkdirs(state, 0700, e);
	if (rc == 0 && (chown(state, uid, gid) || chown(dir, 0, gid) || chmod(dir, 0750)))
		rc = err_errno(e, errno, "%s", dir);
	if (rc == 0)
		rc = copy_site(j, dir, gid, e);
	if (rc == 0)
		rc = write_ours(j, dir, port, gid, e);
	free(state);
	return rc;
}

/* --- the run */

static bool has_ended(pid_t pid)
{
	siginfo_t si = { 0 };

	return waitid(P_PID, (id_t)pid, &si, WEXITED | WNOHANG | WNOWAIT) == 0 && si.si_pid == pid;
}

/* The log calls slurmctld's files by the scratch folder; a person knows them by the real one. */
static void put_line(struct buf *out, const char *line, size_t n, const char *dir, const char *real_dir)
{
	size_t len = strlen(dir);

	for (size_t i = 0; i < n;) {
		if (n - i >= len && memcmp(line + i, dir, len) == 0) {
			buf_str(out, real_dir);
			i += len;
		} else {
			buf_char(out, line[i++]);
		}
	}
}

static bool line_matters(const char *line, size_t n)
{
	return memmem(line, n, "error:", 6) || memmem(line, n, "fatal:", 6) || memmem(line, n, "Unable to", 9);
}

static void explain(const struct apply_job *j, const char *dir, const char *log, struct err *e)
{
	struct buf text = { 0 }, out = { 0 };
	char *real_dir = apply_beside(j->slurm_conf, "");
	size_t shown = 0, n;

	if (real_dir && real_dir[0])
		real_dir[strlen(real_dir) - 1] = 0;
	if (file_read(log, COPY_MAX, &text, NULL) == 0 && real_dir) {
		for (const char *s = buf_text(&text); *s && shown < LINES_SHOWN; s += n + (s[n] == '\n')) {
			n = strcspn(s, "\n");
			if (!line_matters(s, n))
				continue;
			buf_str(&out, "\n    ");
			put_line(&out, s, n, dir, real_dir);
			shown++;
		}
	}
	err_set(e, "a slurmctld does not start with the new files, so nothing was installed; it said:%s",
		shown ? buf_text(&out) : " nothing");
	free(real_dir);
	buf_free(&text);
	buf_free(&out);
}

static bool log_says(const char *log, const char *text)
{
	struct buf b = { 0 };
	bool found = file_read(log, COPY_MAX, &b, NULL) == 0 && strstr(buf_text(&b), text);

	buf_free(&b);
	return found;
}

static int wait_started(pid_t pid, const char *log)
{
	int64_t until = clock_mono_ms() + START_LIMIT_MS;

	while (clock_mono_ms() < until) {
		if (log_says(log, "Running as primary controller"))
			return 0;
		if (has_ended(pid) || interrupt_came())
			return -1;
		clock_sleep_ms(POLL_MS);
	}
	return -1;
}

static int run_scratch(const struct apply_job *j, struct trial_folder *folder, struct err *e)
{
	const char *dir = folder->path;
	char *conf = file_join(dir, strrchr(j->slurm_conf, '/') + 1), *log = file_join(dir, "output.log");
	const char *const argv[] = { j->set->slurmctld, "-D", "-c", "-f", conf, NULL };
	pid_t pid = -1;
	int rc = -1;

	if (!conf || !log) {
		err_nomem(e);
		goto out;
	}
	pid = proc_spawn(argv, NULL, log, e);
	if (pid < 0)
		goto out;
	trial_folder_watch(folder, pid);
	rc = wait_started(pid, log);
	proc_end(pid, interrupt_came() ? 0 : END_GRACE_MS);
	if (rc && interrupt_came())
		err_set(e, "interrupted");
	else if (rc)
		explain(j, dir, log, e);
out:
	free(conf);
	free(log);
	return rc;
}

int apply_step_scratch(struct apply_job *j, struct buf *note, struct err *e)
{
	struct trial_folder folder;
	int port, rc;

	if (!j->changed) {
		buf_str(note, "not needed");
		return 0;
	}
	port = free_port(e);
	if (port < 0)
		return -1;
	/* root's own, where nobody else can rename it */
	if (trial_folder_make(&folder, "/tmp", e))
		return err_prefix(e, "a folder for the trial");
	rc = fill_folder(j, folder.path, port, e);
	if (rc)
		err_prefix(e, "a folder for the trial");
	else /* slurmctld becomes SlurmUser by itself, which it can as root only */
		rc = run_scratch(j, &folder, e);
	trial_folder_remove(&folder);
	if (rc == 0)
		buf_str(note, "a slurmctld starts with the new files");
	return rc;
}
