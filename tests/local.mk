# tests: unit (cmocka), scenarios (a real slurmctld and slurmd in namespaces), oracles, the layer table
include tests/unit/base.mk
include tests/unit/cluster.mk
include tests/unit/node.mk
include tests/unit/plan.mk
include tests/unit/aws.mk
include tests/unit/state.mk
include tests/unit/slurmctl.mk
include tests/unit/conf.mk
include tests/unit/ec2local.mk
include tests/unit/computemgtd.mk
EXTRA_DIST += demo examples tests/run_scenarios tests/lib tests/scenarios
