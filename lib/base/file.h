/* file.h - whole files and folders: bounded reads, replacement by rename. */
#ifndef SE_BASE_FILE_H
#define SE_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct buf;
struct err;

/* Append the file's content to out. More than max bytes is an error. Works on /proc files and pipes too. */
int file_read(const char *path, size_t max, struct buf *out, struct err *e);
/* Write all or nothing: temporary file in the same folder, fsync, rename, fsync of the folder. */
int file_replace(const char *path, mode_t mode, const void *bytes, size_t n, struct err *e);
/* The same for a file of another user, for root: it has its owner before it has its name, so no link is ever followed. */
int file_replace_as(const char *path, mode_t mode, uid_t uid, gid_t gid, const void *bytes, size_t n, struct err *e);
/* mkdir -p; existing folders are fine. */
int file_mkdirs(const char *path, mode_t mode, struct err *e);
/* Remove a file or a whole tree, never following links; absent is success. */
int file_remove_tree(const char *path, struct err *e);
bool file_exists(const char *path);
/* "<dir>/<name>"; NULL on no memory. Caller frees. */
char *file_join(const char *dir, const char *name);

#endif
