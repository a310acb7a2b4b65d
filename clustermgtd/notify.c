/* SPDX-License-Identifier: GPL-2.0-or-later */
/* notify.c - sd_notify(3)'s protocol: one datagram to the socket that the environment names; '@' stands for the abstract space.
 */
#include "clustermgtd/notify.h"

#include "lib/base/num.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void notify(const char *message)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	size_t n = path ? strlen(path) : 0;
	int s;

	if (n == 0 || n >= sizeof to.sun_path)
		return;
	memcpy(to.sun_path, path, n);
	if (path[0] == '@')
		to.sun_path[0] = 0;
	s = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (s < 0)
		return;
	(void)!sendto(s, message, strlen(message), MSG_NOSIGNAL, (struct sockaddr *)&to,
		      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n));
	close(s);
}

int64_t notify_period_ms(void)
{
	const char *text = getenv("WATCHDOG_USEC");
	int64_t us;

	if (!text || num_i64(text, 1, INT64_MAX, &us, NULL) < 0)
		return INT64_MAX;
	return us / 2000 > 0 ? us / 2000 : 1;
}
