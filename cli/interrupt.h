/* interrupt.h - Ctrl-C and its kin for a command that changes things: at first they end it at once, later they are a question
 * that it asks itself where it can stop.
 */
#ifndef SE_CLI_INTERRUPT_H
#define SE_CLI_INTERRUPT_H

/* From here on INT, TERM, HUP and QUIT (those that are not ignored) print `note` to stderr and end the process. */
void interrupt_ends(const char *note);
/* From here on they are remembered, calls to EC2 end early, and a closed output is no reason to die. */
void interrupt_remember(void);
/* The signal that came since, or 0. */
int interrupt_came(void);
/* Calls to EC2 work again, for cleaning up; what comes is still remembered. */
void interrupt_clean_up(void);

#endif
