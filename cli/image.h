/* image.h - may this image run as a node of this cluster? Pure rules on DescribeImages' answer. */
#ifndef SE_CLI_IMAGE_H
#define SE_CLI_IMAGE_H

#include "lib/aws/ec2.h"

struct err;

/* Distance in major releases from slurmd `inside` to slurmctld `head` ("22.05.8"): 0 same, 2 = two releases older, negative =
 * newer. -99 if a text is no version. */
int image_release_distance(const char *head, const char *inside);
/* The newest available image of that architecture whose tag fits the head's Slurm, or NULL. */
const struct ec2_image *image_newest(const struct ec2_images *all, const char *arch, const char *head_version);
/* 0, or -1 with e saying what is wrong with it and the remedy. */
int image_judge(const struct ec2_image *i, const char *arch, const char *head_version, int accept_untagged, struct err *e);

#endif
