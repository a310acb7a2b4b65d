/* SPDX-License-Identifier: GPL-2.0-or-later */
/* poke.c - wake clustermgtd, so that repair does not wait for its period. Nobody listening is fine. */
#include "lib/apply/apply.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

_Static_assert(sizeof CLUSTERMGTD_SOCKET <= sizeof((struct sockaddr_un *)0)->sun_path,
	       "localstatedir is too long for a socket");

void apply_poke(void)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX, .sun_path = CLUSTERMGTD_SOCKET};
	int s = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (s < 0)
		return;
	(void)!sendto(s, "p", 1, MSG_NOSIGNAL, (struct sockaddr *)&to, sizeof to);
	close(s);
}
