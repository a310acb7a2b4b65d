/* log.h - the one logger of our programs: one line a message, to a file or to stderr.
 *
 * Line: "2026-11-30T16:50:27.023Z resume[4711]: info: text". Never open in libraries below apply: they return errors.
 * Control characters in the text are written as \xNN, so that a reply or a tag cannot forge a line.
 */
#ifndef SE_BASE_LOG_H
#define SE_BASE_LOG_H

enum log_level { LOG_ERROR_LEVEL, LOG_WARN_LEVEL, LOG_INFO_LEVEL, LOG_DEBUG_LEVEL };

struct err;

/* Log as `ident`. path NULL = stderr, else append to the file (0640, O_APPEND: several processes share it).
 * On failure the log goes to stderr and -1 is returned with e filled. May be called again (log rotation). */
int log_open(const char *ident, const char *path, enum log_level level, struct err *e);
void log_close(void);

/* Text "error", "warning", "info" or "debug" to level; -1 if it is none of them. */
int log_level_parse(const char *text, enum log_level *out);

/* log_error for a program that gives up: if the log is a file, whoever started it is told on stderr too. Does not exit. */
void log_fatal(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_debug(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
