/* options.h - the command lines of our programs, refused all in one way: one line on stderr that names the program, what is
 * wrong and where the help is, and exit status 2.
 *
 * For main() and the commands of slurm-ec2 only; everything else gets its values as arguments.
 */
#ifndef SE_BASE_OPTIONS_H
#define SE_BASE_OPTIONS_H

#include <getopt.h>

#define OPTIONS_WRONG 2 /* exit status of wrong usage */

/* getopt_long that tells in our words what it refuses; '?' then. shorts begins with ":" or "+:". */
int options_next(const char *program, int argc, char **argv, const char *shorts, const struct option *known);
/* After the last option: 0 if no argument is left, else told. */
int options_end(const char *program, int argc, char **argv);
/* For programs that take no options but --help and --version, one of which argv[1] may be: 1 and *status if it was an
 * option (or is missing) and is answered; 0 if it is an argument. usage and missing: what --help prints, and what has to
 * be given. */
int options_only_help(const char *program, int argc, char **argv, const char *usage, const char *missing, int *status);
/* "PROGRAM: TEXT; see PROGRAM --help" on stderr. Returns OPTIONS_WRONG. */
int options_refuse(const char *program, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* "PROGRAM (slurm-ec2) VERSION" on stdout. Returns the exit status: 0, or 1 if it could not be written. */
int options_version(const char *program);

#endif
