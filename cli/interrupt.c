/* SPDX-License-Identifier: GPL-2.0-or-later */
/* interrupt.c - what signals do to apply. Called by cmd_apply and the waits of its steps; never ends a process after
 * interrupt_remember().
 */
#include "cli/interrupt.h"

#include "lib/apply/apply.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
#define N_SIGNALS (sizeof(signals) / sizeof(signals[0]))

static const char *last_words;
static volatile sig_atomic_t came;
static volatile sig_atomic_t cleaning;

static void end_now(int sig)
{
	(void)!write(STDERR_FILENO, last_words, strlen(last_words));
	_exit(128 + sig);
}

static void remember(int sig)
{
	if (!came)
		came = sig;
	if (!cleaning)
		apply_stop = 1;
}

/* One that was ignored when we were started stays so (nohup). */
static void handle(void (*handler)(int))
{
	struct sigaction a = { .sa_handler = handler, .sa_flags = SA_RESTART }, before;

	sigfillset(&a.sa_mask);
	for (size_t i = 0; i < N_SIGNALS; i++) {
		if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
			sigaction(signals[i], &a, NULL);
	}
}

void interrupt_ends(const char *note)
{
	last_words = note;
	handle(end_now);
}

void interrupt_remember(void)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };

	handle(remember);
	sigaction(SIGPIPE, &ignore, NULL);
}

int interrupt_came(void)
{
	return came;
}

void interrupt_clean_up(void)
{
	cleaning = 1;
	apply_stop = 0;
}
