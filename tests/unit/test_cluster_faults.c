/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_cluster_faults.c - small files against every problem that must be reported of them, with line and column, and no
 * other. */
#include "lib/base/problem.h"
#include "lib/base/str.h"
#include "lib/cluster/cluster.h"
#include "lib/cluster/load.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Four, two, two and one line. */
#define TOP "Image: {Os: rhel9}\nScheduling:\n  Scheduler: slurm\n  SlurmQueues:\n"
#define QUEUE "  - Name: q\n    Networking: {SubnetIds: [subnet-12345678]}\n"
#define RESOURCE "    ComputeResources:\n    - Name: r\n"
#define TYPE "      InstanceType: c5.large\n"

struct row {
	const char *name;
	const char *yaml;
	const char *says; /* all lines, sorted by place; "" = no problem */
};

static const struct row rows[] = {
	{"empty file",
	 "",
	 "f:1:1: error: the file holds nothing; keys are expected\n"},
	{"only a comment",
	 "# nothing\n",
	 "f:1:1: error: the file holds nothing; keys are expected\n"},
	{"a list",
	 "- a\n",
	 "f:1:1: error: a mapping of keys is expected here, this is a list\n"},
	{"tab",
	 "Image:\n	Os: rhel9\n",
	 "f:2:1: error: not valid YAML: while scanning for the next token, found character that cannot start any token; a tab cannot indent YAML, use spaces\n"},
	{"unclosed",
	 "Image: {Os: rhel9\n",
	 "f:2:1: error: not valid YAML: while parsing a flow mapping, did not find expected ',' or '}'\n"},
	{"not text",
	 "Image: \x01\n",
	 "f:1:8: error: not valid YAML: control characters are not allowed\n"},
	{"not UTF-8",
	 "Image:\n  Os: \xff\n",
	 "f:2:7: error: not valid YAML: invalid leading UTF-8 octet\n"},
	{"UTF-16",
	 "\xff\xfeX",
	 "f:1:1: error: the file is UTF-16; save it as UTF-8\n"},
	{"variable in a flow mapping",
	 "Image: {Os: ${OS}}\n",
	 "f:1:14: error: not valid YAML: while parsing a flow mapping, did not find expected ',' or '}'; inside { } and [ ] write \"${NAME}\" in quotes\n"},
	{"second document",
	 "Image: {Os: rhel9}\n---\nImage: {Os: rhel9}\n",
	 "f:2:1: error: a second YAML document begins here; a file holds one\n"},
	{"unknown anchor",
	 "Image: *none\n",
	 "f:1:8: error: not valid YAML: found undefined alias\n"},
	{"missing sections",
	 "Region: us-east-1\n",
	 "f:1:1: error: Image: is required and missing\n"
	 "f:1:1: error: Scheduling: is required and missing\n"},
	{"a key that is a list",
	 TOP QUEUE RESOURCE TYPE "? [a, b]\n: c\n",
	 "f:10:3: error: a key must be text, this is a list\n"},
	{"unknown key, near",
	 TOP QUEUE RESOURCE TYPE "      MaxCont: 1\n",
	 "f:10:7: error: Scheduling.SlurmQueues[q].ComputeResources[r]: unknown key \"MaxCont\"; did you mean \"MaxCount\"?\n"},
	{"unknown key, case",
	 TOP QUEUE RESOURCE TYPE "      maxcount: 1\n",
	 "f:10:7: error: Scheduling.SlurmQueues[q].ComputeResources[r]: unknown key \"maxcount\"; did you mean \"MaxCount\"?\n"},
	{"unknown key, one level too high",
	 TOP QUEUE RESOURCE TYPE "    SubnetIds: [subnet-12345678]\n",
	 "f:10:5: error: Scheduling.SlurmQueues[q]: unknown key \"SubnetIds\"; it belongs under Networking\n"},
	{"unknown key, nothing near",
	 TOP QUEUE RESOURCE TYPE "Colour: red\n",
	 "f:10:1: error: unknown key \"Colour\"\n"},
	{"variable as key",
	 TOP QUEUE RESOURCE TYPE "$HOME: red\n",
	 "f:10:1: error: unknown key \"$HOME\"\n"},
	{"duplicate key",
	 TOP QUEUE RESOURCE TYPE "      MaxCount: 1\n      MinCount: 0\n      MaxCount: 2\n",
	 "f:12:7: error: Scheduling.SlurmQueues[q].ComputeResources[r].MaxCount: duplicate key; it stands in line 10 already\n"},
	{"null",
	 TOP QUEUE RESOURCE TYPE "      MaxCount:\n",
	 "f:10:7: error: Scheduling.SlurmQueues[q].ComputeResources[r].MaxCount: has no value; give one or leave the key out\n"},
	{"tilde",
	 TOP QUEUE RESOURCE TYPE "      Tags: ~\n",
	 "f:10:7: error: Scheduling.SlurmQueues[q].ComputeResources[r].Tags: has no value; give one or leave the key out\n"},
	{"tag",
	 TOP QUEUE RESOURCE "      InstanceType: !Ref Type\n",
	 "f:9:21: error: Scheduling.SlurmQueues[q].ComputeResources[r].InstanceType: the tag !Ref is not supported; give a plain value\n"},
	{"text for number",
	 TOP QUEUE RESOURCE TYPE "      MaxCount: ten\n",
	 "f:10:17: error: Scheduling.SlurmQueues[q].ComputeResources[r].MaxCount: \"ten\" is not a whole number; give a whole number from 1 to 65536\n"},
	{"number too small",
	 TOP QUEUE RESOURCE TYPE "      MaxCount: 0\n",
	 "f:10:17: error: Scheduling.SlurmQueues[q].ComputeResources[r].MaxCount: 0 is below the least value 1; give a whole number from 1 to 65536\n"},
	{"number too large",
	 TOP QUEUE RESOURCE TYPE "      MaxCount: 65537\n",
	 "f:10:17: error: Scheduling.SlurmQueues[q].ComputeResources[r].MaxCount: 65537 is above the greatest value 65536; give a whole number from 1 to 65536\n"},
	{"fraction",
	 TOP QUEUE RESOURCE TYPE "      MinCount: 1.5\n",
	 "f:10:17: error: Scheduling.SlurmQueues[q].ComputeResources[r].MinCount: \"1.5\" is not a whole number; give a whole number from 0 to 65536\n"},
	{"open range",
	 TOP QUEUE RESOURCE TYPE "      SchedulableMemory: 0\n",
	 "f:10:26: error: Scheduling.SlurmQueues[q].ComputeResources[r].SchedulableMemory: 0 is below the least value 1; give a whole number, 1 or more\n"},
	{"list for number",
	 TOP QUEUE RESOURCE TYPE "      MaxCount: [1]\n",
	 "f:10:17: error: Scheduling.SlurmQueues[q].ComputeResources[r].MaxCount: one value is expected here, this is a list\n"},
	{"mapping for number",
	 TOP QUEUE RESOURCE TYPE "      MaxCount: {a: 1}\n",
	 "f:10:17: error: Scheduling.SlurmQueues[q].ComputeResources[r].MaxCount: one value is expected here, this is a mapping\n"},
	{"text for bool",
	 TOP QUEUE RESOURCE TYPE "      DisableSimultaneousMultithreading: maybe\n",
	 "f:10:42: error: Scheduling.SlurmQueues[q].ComputeResources[r].DisableSimultaneousMultithreading: \"maybe\" is neither true nor false; give true or false\n"},
	{"text for price",
	 TOP QUEUE RESOURCE TYPE "      SpotPrice: cheap\n",
	 "f:10:18: error: Scheduling.SlurmQueues[q].ComputeResources[r].SpotPrice: \"cheap\" is not a plain number such as 0.05; give a number, 0 or more\n"},
	{"negative price",
	 TOP QUEUE RESOURCE TYPE "      SpotPrice: -1\n",
	 "f:10:18: error: Scheduling.SlurmQueues[q].ComputeResources[r].SpotPrice: -1 is below the least value 0; give a number, 0 or more\n"},
	{"text for list",
	 TOP "  - Name: q\n    Networking: {SubnetIds: subnet-12345678}\n" RESOURCE TYPE,
	 "f:6:29: error: Scheduling.SlurmQueues[q].Networking.SubnetIds: a list is expected here, this is one value; write [A, B] or lines that begin with \"- \"\n"},
	{"list for text",
	 TOP QUEUE RESOURCE "      InstanceType: [c5.large]\n",
	 "f:9:21: error: Scheduling.SlurmQueues[q].ComputeResources[r].InstanceType: one value is expected here, this is a list\n"},
	{"text for mapping",
	 TOP "  - Name: q\n    Networking: subnet-12345678\n" RESOURCE TYPE,
	 "f:6:17: error: Scheduling.SlurmQueues[q].Networking: a mapping is expected here, this is one value\n"},
	{"entry that is no mapping",
	 TOP QUEUE RESOURCE TYPE "    - text\n",
	 "f:10:7: error: Scheduling.SlurmQueues[q].ComputeResources[1]: a mapping is expected here, this is one value\n"},
	{"entry that is a list",
	 TOP "  - Name: q\n    Networking: {SubnetIds: [[subnet-12345678]]}\n" RESOURCE TYPE,
	 "f:6:30: error: Scheduling.SlurmQueues[q].Networking.SubnetIds[0]: one value is expected here, this is a list\n"},
	{"empty list",
	 TOP "  - Name: q\n    Networking: {SubnetIds: []}\n" RESOURCE TYPE,
	 "f:6:29: error: Scheduling.SlurmQueues[q].Networking.SubnetIds: the list is too short; at least 1 is needed\n"},
	{"choice, near",
	 TOP QUEUE "    CapacityType: spot\n" RESOURCE TYPE,
	 "f:7:19: error: Scheduling.SlurmQueues[q].CapacityType: \"spot\" is not one of ONDEMAND, SPOT, CAPACITY_BLOCK; did you mean \"SPOT\"?\n"},
	{"choice, nothing near",
	 TOP QUEUE "    CapacityType: cheap\n" RESOURCE TYPE,
	 "f:7:19: error: Scheduling.SlurmQueues[q].CapacityType: \"cheap\" is not one of ONDEMAND, SPOT, CAPACITY_BLOCK\n"},
	{"pattern",
	 TOP "  - Name: q\n    Networking: {SubnetIds: [subnet-123]}\n" RESOURCE TYPE,
	 "f:6:30: error: Scheduling.SlurmQueues[q].Networking.SubnetIds[0]: \"subnet-123\" is not right; give subnet- and 8 or 17 digits or lower-case letters\n"},
	{"control characters in a value",
	 TOP QUEUE RESOURCE "      InstanceType: \"c5\\n.large\"\n",
	 "f:9:21: error: Scheduling.SlurmQueues[q].ComputeResources[r].InstanceType: \"c5\\x0a.large\" is not right; give an instance type such as c6i.large\n"},
	{"long value",
	 TOP QUEUE RESOURCE "      InstanceType: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n",
	 "f:9:21: error: Scheduling.SlurmQueues[q].ComputeResources[r].InstanceType: \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...\" is not right; give an instance type such as c6i.large\n"},
	{"names",
	 TOP "  - Name: default\n    Networking: {SubnetIds: [subnet-12345678]}\n" "    ComputeResources:\n    - {Name: 1r, InstanceType: c5.large}\n    - {Name: r_1, InstanceType: c5.large}\n    - {Name: abcdefghijklmnopqrstuvwxyz, InstanceType: c5.large}\n    - {InstanceType: c5.large}\n",
	 "f:5:11: error: Scheduling.SlurmQueues[default].Name: \"default\" is not right; give a lower-case letter, then lower-case letters, digits and dashes; at most 25 characters, not \"default\"\n"
	 "f:8:14: error: Scheduling.SlurmQueues[default].ComputeResources[1r].Name: \"1r\" is not right; give a lower-case letter, then lower-case letters, digits and dashes; at most 25 characters, not \"default\"\n"
	 "f:9:14: error: Scheduling.SlurmQueues[default].ComputeResources[r_1].Name: \"r_1\" is not right; give a lower-case letter, then lower-case letters, digits and dashes; at most 25 characters, not \"default\"\n"
	 "f:10:14: error: Scheduling.SlurmQueues[default].ComputeResources[abcdefghijklmnopqrstuvwxyz].Name: \"abcdefghijklmnopqrstuvwxyz\" is not right; give a lower-case letter, then lower-case letters, digits and dashes; at most 25 characters, not \"default\"\n"
	 "f:11:7: error: Scheduling.SlurmQueues[default].ComputeResources[3].Name: is required and missing\n"},
	{"duplicate names",
	 TOP QUEUE RESOURCE TYPE "    - {Name: r, InstanceType: c5.large}\n" "  - Name: q\n    Networking: {SubnetIds: [subnet-12345678]}\n    ComputeResources: [{Name: r, InstanceType: c5.large}]\n",
	 "f:10:14: error: Scheduling.SlurmQueues[q].ComputeResources[r].Name: \"r\" stands in line 8 already; each may appear once\n"
	 "f:11:11: error: Scheduling.SlurmQueues[q].Name: \"q\" stands in line 5 already; each may appear once\n"},
	{"duplicate subnets and types",
	 TOP "  - Name: q\n    Networking: {SubnetIds: [subnet-12345678, subnet-12345678]}\n" RESOURCE "      Instances: [{InstanceType: c5.large}, {InstanceType: c5.large}]\n",
	 "f:6:47: error: Scheduling.SlurmQueues[q].Networking.SubnetIds[1]: \"subnet-12345678\" stands in line 6 already; each may appear once\n"
	 "f:9:60: error: Scheduling.SlurmQueues[q].ComputeResources[r].Instances[1].InstanceType: \"c5.large\" stands in line 9 already; each may appear once\n"},
	{"scheduler",
	 "Image: {Os: rhel9}\nScheduling:\n  Scheduler: awsbatch\n  AwsBatchQueues: [x]\n",
	 "f:3:3: error: Scheduling.SlurmQueues: is required and missing\n"
	 "f:3:14: error: Scheduling.Scheduler: \"awsbatch\" is not right; give slurm; AWS Batch is not supported\n"
	 "f:4:3: error: Scheduling.AwsBatchQueues: cannot be used here; it is for AWS Batch, slurm-ec2 runs Slurm queues (SlurmQueues)\n"},
	{"variables",
	 TOP QUEUE RESOURCE "      InstanceType: $TYPE\n      MaxCount: ${COUNT}\n      MinCount: $NONE\n",
	 "f:11:17: error: Scheduling.SlurmQueues[q].ComputeResources[r].MinCount: variable NONE is not set; set it in the environment of this command, or write $$ for a plain $\n"},
	{"variable with a bad value",
	 TOP QUEUE RESOURCE "      InstanceType: $COUNT\n",
	 "f:9:21: error: Scheduling.SlurmQueues[q].ComputeResources[r].InstanceType: \"7\" is not right; give an instance type such as c6i.large\n"},
	{"merge",
	 TOP "  - &a\n    Name: q\n    Networking: {SubnetIds: [subnet-12345678]}\n" RESOURCE TYPE "  - {<<: *a, Name: q2}\n  - {<<: [*a], Name: q3}\n",
	 ""},
	{"merge of no mapping",
	 TOP QUEUE RESOURCE TYPE "      <<: 5\n",
	 "f:10:11: error: Scheduling.SlurmQueues[q].ComputeResources[r]: << takes a mapping or a list of them, this is one value\n"},
	{"merge of itself",
	 TOP QUEUE "    ComputeResources:\n    - &r\n      Name: r\n" TYPE "      <<: *r\n",
	 "f:8:7: error: Scheduling.SlurmQueues[q].ComputeResources[r]: merged mappings nest too deep, or one merges itself\n"},
	{"min above max",
	 TOP QUEUE RESOURCE TYPE "      MinCount: 5\n      MaxCount: 4\n",
	 "f:10:17: error: Scheduling.SlurmQueues[q].ComputeResources[r].MinCount: 5 is more than MaxCount, which is 4\n"},
	{"min above the default max",
	 TOP QUEUE RESOURCE TYPE "      MinCount: 11\n",
	 "f:10:17: error: Scheduling.SlurmQueues[q].ComputeResources[r].MinCount: 11 is more than MaxCount, which is 10 by default\n"},
	{"min beside a refused max",
	 TOP QUEUE RESOURCE TYPE "      MinCount: 11\n      MaxCount: lots\n",
	 "f:11:17: error: Scheduling.SlurmQueues[q].ComputeResources[r].MaxCount: \"lots\" is not a whole number; give a whole number from 1 to 65536\n"},
	{"no type",
	 TOP QUEUE RESOURCE,
	 "f:8:13: error: Scheduling.SlurmQueues[q].ComputeResources[r].InstanceType: is required and missing (or Instances, a list of types)\n"},
	{"two kinds of type",
	 TOP QUEUE RESOURCE TYPE "      Instances: [{InstanceType: c5.large}]\n",
	 "f:10:18: error: Scheduling.SlurmQueues[q].ComputeResources[r].Instances: InstanceType stands here too; give one of the two\n"},
	{"several types",
	 TOP QUEUE RESOURCE "      Instances: [{InstanceType: c5.large}, {InstanceType: c5.xlarge}]\n",
	 ""},
	{"refused type is not missing",
	 TOP QUEUE RESOURCE "      InstanceType: c5\n",
	 "f:9:21: error: Scheduling.SlurmQueues[q].ComputeResources[r].InstanceType: \"c5\" is not right; give an instance type such as c6i.large\n"},
	{"several subnets, one type",
	 TOP "  - Name: q\n    Networking: {SubnetIds: [subnet-12345678, subnet-87654321]}\n" RESOURCE TYPE,
	 "f:6:29: error: Scheduling.SlurmQueues[q].ComputeResources[r].InstanceType: several SubnetIds go only with Instances; use Instances, or one subnet\n"},
	{"B30 several subnets, EFA, placement",
	 TOP "  - Name: q\n    Networking: {SubnetIds: [subnet-12345678, subnet-87654321], PlacementGroup: {Enabled: true}}\n" RESOURCE "      Instances: [{InstanceType: c5.large}]\n      Efa: {Enabled: true}\n",
	 "f:6:81: error: Scheduling.SlurmQueues[q].ComputeResources[r].Networking.PlacementGroup: a placement group needs one subnet, the queue has several\n"
	 "f:8:13: error: Scheduling.SlurmQueues[q].ComputeResources[r].Efa.Enabled: EFA needs one subnet, the queue has several\n"},
	{"node names meet",
	 TOP "  - Name: a-dy-b\n    Networking: {SubnetIds: [subnet-12345678]}\n    ComputeResources: [{Name: c, InstanceType: c5.large}]\n  - Name: a\n    Networking: {SubnetIds: [subnet-12345678]}\n    ComputeResources: [{Name: b-dy-c, InstanceType: c5.large}]\n",
	 "f:10:31: error: Scheduling.SlurmQueues[a].ComputeResources[b-dy-c].Name: its nodes would be called a-dy-b-dy-c-1 and so on, like those of queue \"a-dy-b\", compute resource \"c\" (line 7); rename one of them\n"},
	{"node names meet across kinds",
	 TOP "  - Name: q-st\n    Networking: {SubnetIds: [subnet-12345678]}\n    ComputeResources: [{Name: x, InstanceType: c5.large}]\n  - Name: q\n    Networking: {SubnetIds: [subnet-12345678]}\n    ComputeResources: [{Name: dy-x, InstanceType: c5.large}, {Name: st-x, InstanceType: c5.large}]\n",
	 "f:10:31: error: Scheduling.SlurmQueues[q].ComputeResources[dy-x].Name: its nodes would be called q-st-dy-x-1 and so on, like those of queue \"q-st\", compute resource \"x\" (line 7); rename one of them\n"
	 "f:10:69: error: Scheduling.SlurmQueues[q].ComputeResources[st-x].Name: its nodes would be called q-st-st-x-1 and so on, like those of queue \"q-st\", compute resource \"x\" (line 7); rename one of them\n"},
	{"node names do not meet",
	 TOP "  - Name: a-dy-b\n    Networking: {SubnetIds: [subnet-12345678]}\n    ComputeResources: [{Name: c, InstanceType: c5.large}]\n  - Name: a\n    Networking: {SubnetIds: [subnet-12345678]}\n    ComputeResources: [{Name: b-st-d, InstanceType: c5.large}]\n",
	 ""},
	{"placement",
	 TOP "  - Name: q\n    Networking: {SubnetIds: [subnet-12345678], PlacementGroup: {Name: a, Id: b}}\n" RESOURCE TYPE "      Networking: {PlacementGroup: {Enabled: false, Name: a}}\n",
	 "f:6:78: error: Scheduling.SlurmQueues[q].Networking.PlacementGroup: Name and Id mean the same; give one of the two\n"
	 "f:10:59: error: Scheduling.SlurmQueues[q].ComputeResources[r].Networking.PlacementGroup: a group is named, but Enabled is false; remove one of the two\n"},
	{"spot price on demand",
	 TOP QUEUE RESOURCE TYPE "      SpotPrice: 0.5\n",
	 "f:10:18: warning: Scheduling.SlurmQueues[q].ComputeResources[r].SpotPrice: has no effect: the queue's CapacityType is ONDEMAND, not SPOT\n"},
	{"spot with one type",
	 TOP QUEUE "    CapacityType: SPOT\n" RESOURCE TYPE "      SpotPrice: 0.5\n",
	 ""},
	{"gdr without efa",
	 TOP QUEUE RESOURCE TYPE "      Efa: {GdrSupport: true}\n",
	 "f:10:25: error: Scheduling.SlurmQueues[q].ComputeResources[r].Efa.GdrSupport: needs Efa.Enabled: true\n"},
	{"efa without placement",
	 TOP QUEUE RESOURCE TYPE "      Efa: {Enabled: true}\n",
	 "f:8:13: error: Scheduling.SlurmQueues[q].ComputeResources[r].Efa.Enabled: nodes with EFA belong in a placement group: set Networking.PlacementGroup.Enabled: true, or false to do without\n"},
	{"efa and a decision against placement",
	 TOP QUEUE RESOURCE TYPE "      Efa: {Enabled: true}\n      Networking: {PlacementGroup: {Enabled: false}}\n",
	 "f:8:13: warning: Scheduling.SlurmQueues[q].ComputeResources[r].Efa.Enabled: nodes with EFA are slower outside a placement group\n"},
	{"efa in a named group",
	 TOP QUEUE RESOURCE TYPE "      Efa: {Enabled: true}\n      Networking: {PlacementGroup: {Name: g}}\n",
	 ""},
	{"B30 several types in a placement group",
	 TOP "  - Name: q\n    Networking: {SubnetIds: [subnet-12345678], PlacementGroup: {Enabled: true}}\n" RESOURCE "      Instances: [{InstanceType: c5.large}, {InstanceType: c6i.large}]\n",
	 "f:6:64: warning: Scheduling.SlurmQueues[q].ComputeResources[r].Networking.PlacementGroup: several instance types in one placement group find capacity less often than one type\n"},
	{"B30 a capacity block in a placement group",
	 TOP "  - Name: q\n    CapacityType: CAPACITY_BLOCK\n    CapacityReservationTarget: {CapacityReservationId: cr-12345678}\n    Networking: {SubnetIds: [subnet-12345678], PlacementGroup: {Enabled: true}}\n" RESOURCE TYPE "      MinCount: 2\n      MaxCount: 2\n      Efa: {Enabled: true}\n",
	 "f:8:64: error: Scheduling.SlurmQueues[q].ComputeResources[r].Networking.PlacementGroup: a capacity block cannot be used with a placement group; remove one of the two\n"},
	{"a capacity block with EFA",
	 TOP QUEUE "    CapacityType: CAPACITY_BLOCK\n    CapacityReservationTarget: {CapacityReservationId: cr-12345678}\n" RESOURCE TYPE "      MinCount: 2\n      MaxCount: 2\n      Efa: {Enabled: true}\n",
	 ""},
	{"B30 a reservation in a placement group",
	 TOP QUEUE RESOURCE "      CapacityReservationTarget: {CapacityReservationId: cr-12345678}\n      Networking: {PlacementGroup: {Enabled: true}}\n",
	 "f:10:36: warning: Scheduling.SlurmQueues[q].ComputeResources[r].Networking.PlacementGroup: the capacity reservation must be made in this same placement group, else EC2 has no capacity for it\n"},
	{"a reservation for spot",
	 TOP QUEUE "    CapacityType: SPOT\n" RESOURCE TYPE "      CapacityReservationTarget: {CapacityReservationResourceGroupArn: arn}\n",
	 "f:11:7: error: Scheduling.SlurmQueues[q].ComputeResources[r].CapacityReservationTarget: a capacity reservation holds on-demand machines, but the queue's CapacityType is SPOT\n"},
	{"a type from a reservation, several subnets",
	 TOP "  - Name: q\n    Networking: {SubnetIds: [subnet-12345678, subnet-87654321]}\n" RESOURCE "      CapacityReservationTarget: {CapacityReservationId: cr-12345678}\n",
	 "f:6:29: error: Scheduling.SlurmQueues[q].ComputeResources[r].InstanceType: several SubnetIds go only with Instances; use Instances, or one subnet\n"},
	{"prioritized spot",
	 TOP QUEUE "    CapacityType: SPOT\n    AllocationStrategy: prioritized\n" RESOURCE TYPE,
	 "f:8:25: error: Scheduling.SlurmQueues[q].AllocationStrategy: \"prioritized\" goes only with CapacityType: ONDEMAND; for SPOT it is \"capacity-optimized-prioritized\"\n"},
	{"two sets of groups",
	 TOP "  - Name: q\n    Networking: {SubnetIds: [subnet-12345678], SecurityGroups: [sg-12345678], AdditionalSecurityGroups: [sg-87654321]}\n" RESOURCE TYPE,
	 "f:6:105: error: Scheduling.SlurmQueues[q].Networking.AdditionalSecurityGroups: SecurityGroups stands here too; give one of the two\n"},
	{"role and profile",
	 TOP QUEUE "    Iam: {InstanceRole: a, InstanceProfile: b}\n" RESOURCE TYPE,
	 "f:7:11: warning: Scheduling.SlurmQueues[q].Iam.InstanceRole: known, but slurm-ec2 does not act on it yet; give InstanceProfile, which holds the role\n"
	 "f:7:25: error: Scheduling.SlurmQueues[q].Iam.InstanceRole: InstanceProfile stands here too; give one of the two\n"},
	{"reservations",
	 TOP QUEUE "    CapacityReservationTarget: {CapacityReservationId: cr-12345678, CapacityReservationResourceGroupArn: x}\n" RESOURCE "      Instances: [{InstanceType: c5.large}]\n",
	 "f:7:5: error: Scheduling.SlurmQueues[q].CapacityReservationTarget: CapacityReservationId and CapacityReservationResourceGroupArn stand here; give one of the two\n"
	 "f:10:18: error: Scheduling.SlurmQueues[q].ComputeResources[r].Instances: cannot be used with CapacityReservationId; give InstanceType\n"},
	{"capacity block",
	 TOP QUEUE "    CapacityType: CAPACITY_BLOCK\n    AllocationStrategy: lowest-price\n" RESOURCE TYPE "      MinCount: 1\n",
	 "f:8:25: error: Scheduling.SlurmQueues[q].AllocationStrategy: cannot be used with CAPACITY_BLOCK\n"
	 "f:10:13: error: Scheduling.SlurmQueues[q].ComputeResources[r].MaxCount: a capacity block needs MinCount and MaxCount to be equal; they are 1 and 10\n"
	 "f:10:13: error: Scheduling.SlurmQueues[q].ComputeResources[r].CapacityReservationTarget: a capacity block needs a CapacityReservationId\n"},
	{"allocation strategy",
	 TOP QUEUE "    AllocationStrategy: capacity-optimized\n" RESOURCE TYPE,
	 "f:7:25: error: Scheduling.SlurmQueues[q].AllocationStrategy: \"capacity-optimized\" goes only with CapacityType: SPOT\n"},
	{"priorities",
	 TOP QUEUE RESOURCE TYPE "      MinCount: 1\n      StaticNodePriority: 1000\n",
	 "f:5:11: warning: Scheduling.SlurmQueues[q].ComputeResources: StaticNodePriority 1000 is not below DynamicNodePriority 1000, so Slurm may launch nodes while static ones idle\n"},
	{"too many to launch in time",
	 TOP QUEUE RESOURCE TYPE "      MaxCount: 4601\n",
	 "f:10:17: warning: Scheduling.SlurmQueues[q].ComputeResources[r].MaxCount: EC2 starts 1000 instances at once and then 2 a second, so 4601 nodes need 1801 s, but a node may take only 1800 s (DevSettings.Timeouts.ComputeNodeBootstrapTimeout)\n"},
	{"just few enough to launch in time",
	 TOP QUEUE RESOURCE TYPE "      MaxCount: 4600\n",
	 ""},
	{"a shorter time to launch",
	 TOP QUEUE RESOURCE TYPE "      MaxCount: 1300\n" "DevSettings: {Timeouts: {ComputeNodeBootstrapTimeout: 120}}\n",
	 "f:10:17: warning: Scheduling.SlurmQueues[q].ComputeResources[r].MaxCount: EC2 starts 1000 instances at once and then 2 a second, so 1300 nodes need 150 s, but a node may take only 120 s (DevSettings.Timeouts.ComputeNodeBootstrapTimeout)\n"},
	{"custom settings of slurm.conf",
	 "Image: {Os: rhel9}\nScheduling:\n  Scheduler: slurm\n  SlurmSettings:\n    CustomSlurmSettings:\n    - suspendtime: 5\n    - {NodeName: n1, State: UNKNOWN}\n    - {NodeName: q-dy-r-1, CPUs: 4}\n    - A B: c\n    - MailProg: a b\n    - MailProg: '\"a b\"'\n    - Debug: \"x\\nSlurmUser=root\"\n    - Prolog: /x # y\n    - [a]\n    - X: [a]\n  SlurmQueues:\n" QUEUE RESOURCE TYPE,
	 "f:6:7: error: Scheduling.SlurmSettings.CustomSlurmSettings[0]: \"suspendtime\" is written by slurm-ec2 itself; remove it\n"
	 "f:8:8: error: Scheduling.SlurmSettings.CustomSlurmSettings[2]: \"NodeName\" has a name with -st- or -dy-, which are kept for cloud nodes\n"
	 "f:9:7: error: Scheduling.SlurmSettings.CustomSlurmSettings[3]: \"A B\" is no key of slurm.conf: letters, digits and underscores only\n"
	 "f:10:7: error: Scheduling.SlurmSettings.CustomSlurmSettings[4]: \"MailProg\" has a value with a blank or a quote: put the whole value in double quotes ('\"a b\"')\n"
	 "f:12:7: error: Scheduling.SlurmSettings.CustomSlurmSettings[6]: \"Debug\" has a value that does not fit one line of slurm.conf (line breaks, control characters, # and \\ are refused)\n"
	 "f:13:7: error: Scheduling.SlurmSettings.CustomSlurmSettings[7]: \"Prolog\" is written by slurm-ec2 itself; remove it\n"
	 "f:14:7: error: Scheduling.SlurmSettings.CustomSlurmSettings[8]: a mapping is expected here, this is a list\n"
	 "f:15:10: error: Scheduling.SlurmSettings.CustomSlurmSettings[9]: one value is expected here, this is a list\n"},
	{"custom settings of queue and resource",
	 TOP QUEUE "    CustomSlurmSettings: {Nodes: x, overSubscribe: NO, PriorityTier: 5}\n" RESOURCE TYPE "      CustomSlurmSettings: {Weight: 5, realmemory: 100, CoresPerSocket: 4}\n",
	 "f:7:27: error: Scheduling.SlurmQueues[q].CustomSlurmSettings: \"Nodes\" is written by slurm-ec2 itself; remove it\n"
	 "f:7:37: error: Scheduling.SlurmQueues[q].CustomSlurmSettings: \"overSubscribe\" is written by slurm-ec2 itself; remove it\n"
	 "f:11:29: error: Scheduling.SlurmQueues[q].ComputeResources[r].CustomSlurmSettings: \"Weight\" is written by slurm-ec2 itself; remove it\n"
	 "f:11:40: error: Scheduling.SlurmQueues[q].ComputeResources[r].CustomSlurmSettings: \"realmemory\" is written by slurm-ec2 itself; use SchedulableMemory\n"},
	{"tags",
	 "Tags:\n- {Key: a, Value: b}\n- {Key: a, Value: c}\n- {Key: 'parallelcluster:x', Value: c}\n- {Key: 'aws:x', Value: c}\n- {Key: k}\n" TOP QUEUE RESOURCE TYPE,
	 "f:3:9: error: Tags[1].Key: \"a\" stands in line 2 already; each may appear once\n"
	 "f:4:9: error: Tags[2].Key: \"parallelcluster:x\" is not right; give 1 to 128 characters that do not begin with aws:, slurm-ec2: or parallelcluster:\n"
	 "f:5:9: error: Tags[3].Key: \"aws:x\" is not right; give 1 to 128 characters that do not begin with aws:, slurm-ec2: or parallelcluster:\n"
	 "f:6:3: error: Tags[4].Value: is required and missing\n"},
	{"one warning a key however often",
	 TOP QUEUE RESOURCE TYPE "      HealthChecks: {Gpu: {Enabled: true}}\n    - {Name: r2, InstanceType: c5.large, HealthChecks: {Gpu: {Enabled: false}}}\n",
	 "f:10:7: warning: Scheduling.SlurmQueues[q].ComputeResources[r].HealthChecks: known, but slurm-ec2 does not act on it yet (2 places)\n"},
	{"a slip inside a section that is not acted on",
	 "SharedStorage:\n- {Name: s, MountDir: /s, StorageType: Ebs, EbsSettings: {Sise: 5}}\n" TOP QUEUE RESOURCE TYPE,
	 "f:1:1: warning: SharedStorage: known, but slurm-ec2 does not act on it yet\n"
	 "f:2:59: error: SharedStorage[s].EbsSettings: unknown key \"Sise\"; did you mean \"Size\"?\n"},
};

static const char *get(void *arg, const char *name)
{
	(void)arg;
	if (strcmp(name, "TYPE") == 0)
		return "c5.large";
	if (strcmp(name, "COUNT") == 0)
		return "7";
	return NULL;
}

/* Printed problems of a text; the cluster exists exactly when there is no error among them. */
static char *judged(const char *text, size_t n)
{
	struct problems p = {0};
	struct cluster *c = cluster_parse("f", text, n, get, NULL, &p);
	char *out = NULL;
	size_t size;
	FILE *f = open_memstream(&out, &size);

	problems_sort(&p);
	problems_print(&p, f);
	fclose(f);
	assert_int_equal(c == NULL, problems_count(&p, PROBLEM_ERROR) > 0);
	cluster_destroy(c);
	problems_clear(&p);
	return out;
}

static void faults(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *got = judged(rows[i].yaml, strlen(rows[i].yaml));

		if (strcmp(got, rows[i].says) != 0)
			fail_msg("%s:\n%s\ninstead of\n%s", rows[i].name, got, rows[i].says);
		free(got);
	}
}

static char *repeat(const char *head, const char *unit, size_t times)
{
	size_t h = strlen(head), u = strlen(unit);
	char *s = malloc(h + u * times + 1);

	assert_non_null(s);
	memcpy(s, head, h);
	for (size_t i = 0; i < times; i++)
		memcpy(s + h + i * u, unit, u);
	s[h + u * times] = '\0';
	return s;
}

static void says(const char *text, const char *what)
{
	char *got = judged(text, strlen(text));

	if (!strstr(got, what))
		fail_msg("%.300s does not say %s", got, what);
	free(got);
}

static void limits(void **state)
{
	char *deep = repeat("Image: ", "[", 100000);
	char *large = repeat("#", "x", 8 * 1024 * 1024);
	char *keys = repeat("", "Colour: red\n", 50000);
	char *tail;

	(void)state;
	says(deep, "f:1:39: error: nested more than 32 deep");
	says(large, "f:1:1: error: the file is larger than 8192 KiB");
	says(keys, "f:2:1: error: Colour: duplicate key; it stands in line 1 already");
	says(keys, "f:1002:1: error: more than 1000 problems");
	free(deep);
	free(large);
	free(keys);

	/* An alias to itself: refused as it is no entry of that list, and the walk ends. */
	says("SharedStorage: &a [*a]\n", "SharedStorage[0]: a mapping is expected here, this is a list");
	/* Each line refers ten times to the line before. */
	tail = str_fmt("%s%s%s", "Tags: &a [{<<: &t {Key: k, Value: v}}, *t, *t, *t, *t, *t, *t, *t, *t, *t]\n",
		       "LoginNodes: {Pools: &p [{Name: a, Networking: {SubnetIds: &l [x, x, x, x, x, x, x, x, x, x]}}]}\n",
		       "Region: us-east-1\n");
	says(tail, "Image: is required and missing");
	free(tail);
}

/* Two thousand scripts of three thousand arguments each from 17 KB: the walk must stop. */
static void alias_bomb(void **state)
{
	char *args = repeat("A: &a [", "x, ", 3000);
	char *script = str_fmt("%s]\nB: &s {Script: x, Args: *a}\nHeadNode: {CustomActions: {OnNodeStart: {Sequence: [", args);
	char *scripts = repeat(script, "*s, ", 2000);
	char *all = str_fmt("%s]}}}\n", scripts);

	(void)state;
	says(all, "aliases multiply the values beyond 5000000");
	free(args);
	free(script);
	free(scripts);
	free(all);
}

static void no_file(void **state)
{
	struct problems p = {0};

	(void)state;
	assert_null(cluster_load("/nonexistent/cluster.yaml", cluster_getenv_process, NULL, &p));
	assert_int_equal(p.n, 1);
	assert_non_null(strstr(p.v[0].text, "/nonexistent/cluster.yaml"));
	problems_clear(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(faults), cmocka_unit_test(limits), cmocka_unit_test(alias_bomb),
					   cmocka_unit_test(no_file)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
