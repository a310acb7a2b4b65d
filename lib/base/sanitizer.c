/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sanitizer.c - where a build with sanitizers says what it found: slurmctld gives its programs no stderr, so in the log folder.
 * Part of each installed program, not of the library: a unit test says it on stderr and writes nothing outside its own
 * folder. */
#if defined(__SANITIZE_ADDRESS__)
const char *__asan_default_options(void);
const char *__ubsan_default_options(void);

const char *__asan_default_options(void)
{
	return "log_path=" PKGLOGDIR "/sanitizer:log_exe_name=1";
}

const char *__ubsan_default_options(void)
{
	return "print_stacktrace=1:log_path=" PKGLOGDIR "/sanitizer:log_exe_name=1";
}
#else
extern const int sanitizer_none; /* C wants something in every file */
#endif
