/* fleet_wait.h - waiting for a fleet that starts or stops, with a line for each change. */
#ifndef SE_CLI_FLEET_WAIT_H
#define SE_CLI_FLEET_WAIT_H

#include "lib/plan/fleet.h"

struct err;
struct fleet_view;

/* 0 when the fleet is STOPPED, or RUNNING with its static nodes up. -1 with the cause when it cannot come to that by itself. */
int fleet_wait(struct fleet_view *v, enum fleet_status goal, struct err *e);

#endif
