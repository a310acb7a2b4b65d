/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rootfs.c - build a machine's file tree and pivot into it. Called by ec2local-machine in a fresh mount namespace.
 *
 * The tree is a tmpfs attached over an existing folder that no source lies in, so no temporary folder is needed and nothing can
 * be left behind. What a machine sees of its host is a list: /usr read-only (and the links into it), /sys read-only, and what
 * the image and the options name. */
#include "build_config.h"

#include "ec2local/rootfs.h"

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/file.h"
#include "lib/base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#define COPY_TIMEOUT_MS 60000
#define LIST_MAX 65536 /* bytes of an image's "binds" */

/* "SRC:DST[:rw]" in parts. */
struct pair {
	char src[PATH_MAX];
	char dst[PATH_MAX];
	bool rw;
};

static int pair_parse(const char *text, struct pair *p, struct err *e)
{
	const char *colon = strchr(text, ':');
	const char *end;

	if (text[0] != '/' || !colon || colon[1] != '/')
		return err_set(e, "\"%s\" is not SRC:DST[:rw] with absolute paths", text);
	end = colon + 1 + strcspn(colon + 1, ":");
	p->rw = str_eq(end, ":rw");
	if (*end != '\0' && !p->rw)
		return err_set(e, "\"%s\" ends in something other than :rw", text);
	if (colon - text >= PATH_MAX || end - colon > PATH_MAX)
		return err_set(e, "\"%.60s...\" is too long", text);
	memcpy(p->src, text, (size_t)(colon - text));
	p->src[colon - text] = '\0';
	memcpy(p->dst, colon + 1, (size_t)(end - colon - 1));
	p->dst[end - colon - 1] = '\0';
	return 0;
}

/* "<root>/<path>" into out. */
static int below(const char *root, const char *path, char out[PATH_MAX], struct err *e)
{
	int n = snprintf(out, PATH_MAX, "%s/%s", root, path[0] == '/' ? path + 1 : path);

	return n < 0 || n >= PATH_MAX ? err_set(e, "path %.60s... is too long", path) : 0;
}

static bool lies_in(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	return strncmp(path, dir, n) == 0 && (path[n] == '/' || path[n] == ':' || path[n] == '\0');
}

static bool any_lies_in(const struct strs *l, const char *dir)
{
	for (size_t i = 0; i < l->n; i++)
		if (lies_in(l->v[i], dir))
			return true;
	return false;
}

/* A folder to attach the new tree to: it hides what lies below, so no source may. */
static const char *attach_point(const struct rootfs_spec *s, struct err *e)
{
	static const char *const candidates[] = {"/mnt", "/media", "/srv", "/boot", "/tmp"};

	for (size_t i = 0; i < sizeof(candidates) / sizeof(*candidates); i++) {
		struct stat st;
		if (lstat(candidates[i], &st) == 0 && S_ISDIR(st.st_mode) && !any_lies_in(&s->images, candidates[i]) &&
		    !any_lies_in(&s->binds, candidates[i]) && !any_lies_in(&s->copies, candidates[i]))
			return candidates[i];
	}
	err_set(e, "none of /mnt, /media, /srv, /boot, /tmp is free to attach the machine's tree to");
	return NULL;
}

/* Bind src on dst (both exist). The read-only flag needs a second call, which must keep what the source's mount forbids. */
static int bind_mount(const char *src, const char *dst, bool rw, struct err *e)
{
	struct statvfs v;
	unsigned long flags = MS_BIND | MS_REMOUNT | MS_RDONLY;

	if (mount(src, dst, NULL, MS_BIND, NULL) < 0)
		return err_errno(e, errno, "cannot bind %s to %s", src, dst);
	if (rw)
		return 0;
	if (statvfs(dst, &v) < 0)
		return err_errno(e, errno, "cannot look at %s", dst);
	flags |= v.f_flag & (ST_NOSUID | ST_NODEV | ST_NOEXEC | ST_NOATIME | ST_NODIRATIME | ST_RELATIME);
	if (mount(NULL, dst, NULL, flags, NULL) < 0)
		return err_errno(e, errno, "cannot make %s read-only", dst);
	return 0;
}

/* An empty file or folder to bind src on. */
static int make_target(const char *src, const char *dst, struct err *e)
{
	struct stat st;
	char parent[PATH_MAX];
	int fd;

	if (stat(src, &st) < 0)
		return err_errno(e, errno, "cannot look at %s", src);
	if (S_ISDIR(st.st_mode))
		return file_mkdirs(dst, 0755, e);
	snprintf(parent, sizeof(parent), "%s", dst);
	*strrchr(parent, '/') = '\0';
	if (file_mkdirs(parent, 0755, e) < 0)
		return -1;
	fd = open(dst, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0)
		return err_errno(e, errno, "cannot make %s", dst);
	close(fd);
	return 0;
}

static int bind_text(const char *root, const char *text, struct err *e)
{
	struct pair p;
	char dst[PATH_MAX];

	if (pair_parse(text, &p, e) < 0 || below(root, p.dst, dst, e) < 0 || make_target(p.src, dst, e) < 0)
		return -1;
	return bind_mount(p.src, dst, p.rw, e);
}

static int run_cp(const char *src, const char *dst, struct err *e)
{
	const char *const argv[] = {"cp", "-a", "--", src, dst, NULL};
	struct buf out = {0};
	struct proc_result r;
	int rc = proc_run(argv, NULL, COPY_TIMEOUT_MS, &out, &r, e);

	if (rc == 0 && r.exit_code != 0)
		rc = err_set(e, "cannot copy %s to %s: %s", src, dst, buf_text(&out));
	buf_free(&out);
	return rc;
}

static int copy_text(const char *root, const char *text, struct err *e)
{
	struct pair p;
	char dst[PATH_MAX], parent[PATH_MAX];

	if (pair_parse(text, &p, e) < 0 || below(root, p.dst, dst, e) < 0)
		return -1;
	memcpy(parent, dst, sizeof(parent));
	*strrchr(parent, '/') = '\0';
	if (file_mkdirs(parent, 0755, e) < 0)
		return -1;
	return run_cp(p.src, dst, e);
}

/* Copy the content of <image>/<part>, if there is one, into the folder dst of the tree. Parts go in before read-only mounts are
 * made above them, because a copy sets the modes and times of folders too. */
static int copy_part(const char *root, const char *dst, const struct strs *images, const char *part, struct err *e)
{
	char from[PATH_MAX], to[PATH_MAX];

	if (below(root, dst, to, e) < 0)
		return -1;
	for (size_t i = 0; i < images->n; i++) {
		if (below(images->v[i], part, from, e) < 0)
			return -1;
		if (file_exists(from) && run_cp(from, to, e) < 0)
			return -1;
	}
	return 0;
}

static int bind_list(const char *root, const char *path, struct err *e)
{
	struct buf text = {0};
	struct strs lines = {0};
	int rc = file_read(path, LIST_MAX, &text, e);

	if (rc == 0 && strs_split(&lines, buf_text(&text), '\n') < 0)
		rc = err_nomem(e);
	for (size_t i = 0; rc == 0 && i < lines.n; i++)
		if (lines.v[i][0] != '#' && bind_text(root, lines.v[i], e) < 0)
			rc = err_prefix(e, "%s", path);
	strs_clear(&lines);
	buf_free(&text);
	return rc;
}

static int add_image_binds(const char *root, const struct strs *images, struct err *e)
{
	char path[PATH_MAX];

	for (size_t i = 0; i < images->n; i++) {
		if (below(images->v[i], "binds", path, e) < 0)
			return -1;
		if (file_exists(path) && bind_list(root, path, e) < 0)
			return -1;
	}
	return 0;
}

/* /bin and friends: links into /usr on a merged system, folders of their own on others. */
static int add_usr_link(const char *root, const char *name, struct err *e)
{
	char host[64], dst[PATH_MAX], target[PATH_MAX];
	struct stat st;
	ssize_t n;

	snprintf(host, sizeof(host), "/%s", name);
	if (below(root, name, dst, e) < 0)
		return -1;
	if (lstat(host, &st) < 0)
		return errno == ENOENT ? 0 : err_errno(e, errno, "cannot look at %s", host);
	if (S_ISDIR(st.st_mode))
		return make_target(host, dst, e) < 0 ? -1 : bind_mount(host, dst, false, e);
	n = readlink(host, target, sizeof(target) - 1);
	if (n < 0)
		return err_errno(e, errno, "cannot read link %s", host);
	target[n] = '\0';
	return symlink(target, dst) < 0 ? err_errno(e, errno, "cannot make %s", dst) : 0;
}

static int add_usr(const char *root, struct err *e)
{
	static const char *const links[] = {"bin", "sbin", "lib", "lib32", "lib64", "libx32"};
	char dst[PATH_MAX];

	if (below(root, "usr", dst, e) < 0 || file_mkdirs(dst, 0755, e) < 0 || bind_mount("/usr", dst, false, e) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++)
		if (add_usr_link(root, links[i], e) < 0)
			return -1;
	/* The machine's own /usr/local: image programs go there, the host's stay unseen. */
	if (below(root, "usr/local", dst, e) < 0)
		return -1;
	if (mount("tmpfs", dst, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=16m") < 0)
		return err_errno(e, errno, "cannot mount a tmpfs on %s", dst);
	return 0;
}

static int add_folders(const char *root, struct err *e)
{
	static const struct {
		const char *path;
		mode_t mode;
	} dirs[] = {
	    {"proc", 0555}, {"sys", 0555},     {"dev", 0755},	  {"etc", 0755},       {"run", 0755},	   {"run/lock", 0755},
	    {"tmp", 01777}, {"home", 0755},    {"root", 0700},	  {"mnt", 0755},       {"srv", 0755},	   {"opt", 0755},
	    {"var", 0755},  {"var/log", 0755}, {"var/lib", 0755}, {"var/spool", 0755}, {"var/tmp", 01777}, {"var/cache", 0755},
	};
	char dst[PATH_MAX];

	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++) {
		if (below(root, dirs[i].path, dst, e) < 0)
			return -1;
		if (mkdir(dst, dirs[i].mode) < 0 || chmod(dst, dirs[i].mode) < 0)
			return err_errno(e, errno, "cannot make %s", dst);
	}
	if (below(root, "var/run", dst, e) < 0)
		return -1;
	return symlink("/run", dst) < 0 ? err_errno(e, errno, "cannot make %s", dst) : 0;
}

static int add_device(const char *root, const char *name, struct err *e)
{
	char src[64], dst[PATH_MAX];
	int fd;

	snprintf(src, sizeof(src), "/dev/%s", name);
	if (below(root, src, dst, e) < 0)
		return -1;
	fd = open(dst, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0)
		return err_errno(e, errno, "cannot make %s", dst);
	close(fd);
	return bind_mount(src, dst, true, e);
}

static int add_dev_link(const char *root, const char *target, const char *name, struct err *e)
{
	char dst[PATH_MAX];

	if (below(root, name, dst, e) < 0)
		return -1;
	return symlink(target, dst) < 0 ? err_errno(e, errno, "cannot make %s", dst) : 0;
}

static int add_dev(const char *root, struct err *e)
{
	static const char *const nodes[] = {"null", "zero", "full", "random", "urandom", "tty"};
	char dst[PATH_MAX];

	for (size_t i = 0; i < sizeof(nodes) / sizeof(*nodes); i++)
		if (add_device(root, nodes[i], e) < 0)
			return -1;
	if (add_dev_link(root, "/proc/self/fd", "dev/fd", e) || add_dev_link(root, "/proc/self/fd/0", "dev/stdin", e) ||
	    add_dev_link(root, "/proc/self/fd/1", "dev/stdout", e) || add_dev_link(root, "/proc/self/fd/2", "dev/stderr", e) ||
	    add_dev_link(root, "pts/ptmx", "dev/ptmx", e))
		return -1;
	if (below(root, "dev/shm", dst, e) < 0 || file_mkdirs(dst, 0755, e) < 0)
		return -1;
	if (mount("tmpfs", dst, "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777,size=64m") < 0)
		return err_errno(e, errno, "cannot mount %s", dst);
	if (below(root, "dev/pts", dst, e) < 0 || file_mkdirs(dst, 0755, e) < 0)
		return -1;
	if (mount("devpts", dst, "devpts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666,mode=620,gid=5") < 0)
		return err_errno(e, errno, "cannot mount %s", dst);
	return 0;
}

/* The whole of /sys, cgroup mounts included (slurmd looks for them), read-only where the kernel can do that for a whole tree.
 */
static int add_sys(const char *root, struct err *e)
{
	char dst[PATH_MAX];
	struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY};

	if (below(root, "sys", dst, e) < 0)
		return -1;
	if (mount("/sys", dst, NULL, MS_BIND | MS_REC, NULL) < 0)
		return err_errno(e, errno, "cannot bind /sys");
	if (mount_setattr(AT_FDCWD, dst, AT_RECURSIVE, &attr, sizeof(attr)) == 0)
		return 0;
	if (mount(NULL, dst, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL) < 0)
		return err_errno(e, errno, "cannot make /sys read-only");
	return 0;
}

static int add_proc(const char *root, struct err *e)
{
	char dst[PATH_MAX];

	if (below(root, "proc", dst, e) < 0)
		return -1;
	if (mount("proc", dst, "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
		return err_errno(e, errno, "cannot mount %s", dst);
	return 0;
}

static int add_wishes(const char *root, const struct rootfs_spec *s, struct err *e)
{
	if (copy_part(root, "usr/local", &s->images, "local/.", e) < 0 || add_image_binds(root, &s->images, e) < 0)
		return -1;
	for (size_t i = 0; i < s->copies.n; i++)
		if (copy_text(root, s->copies.v[i], e) < 0)
			return -1;
	for (size_t i = 0; i < s->binds.n; i++)
		if (bind_text(root, s->binds.v[i], e) < 0)
			return -1;
	return 0;
}

/* New and old root on one point, the old one on top and detached: no folder for it is needed in the new tree. */
static int pivot(const char *root, struct err *e)
{
	if (chdir(root) < 0 || syscall(SYS_pivot_root, ".", ".") < 0 || umount2(".", MNT_DETACH) < 0 || chdir("/") < 0)
		return err_errno(e, errno, "cannot make %s the machine's root", root);
	return 0;
}

int rootfs_enter(const struct rootfs_spec *s, struct err *e)
{
	char opts[64];
	const char *root;

	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return err_errno(e, errno, "cannot make mounts private");
	root = attach_point(s, e);
	if (!root)
		return -1;
	snprintf(opts, sizeof(opts), "mode=755,size=%s", s->size);
	if (mount("tmpfs", root, "tmpfs", 0, opts) < 0)
		return err_errno(e, errno, "cannot mount a tmpfs of size %s", s->size);
	umask(022);
	if (add_folders(root, e) || copy_part(root, "", &s->images, "root/.", e) || add_usr(root, e) || add_dev(root, e) ||
	    add_sys(root, e) || add_proc(root, e) || add_wishes(root, s, e))
		return -1;
	return pivot(root, e);
}
