/* fleet.h - what ec2_fleet.c shares with the other kind of launch. For lib/aws only. */
#ifndef SE_AWS_FLEET_H
#define SE_AWS_FLEET_H

#include "lib/aws/reply.h"

/* The parameter that says how many instances a CreateFleet asks for. */
#define FLEET_TOTAL "TargetCapacitySpecification.TotalTargetCapacity"

extern const struct reply_reader fleet_reader;

#endif
