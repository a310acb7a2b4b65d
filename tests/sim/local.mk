# the simulator: a whole site on pure values, thousands of random worlds
sim_sources = tests/sim/test_sim.c tests/sim/sim.h tests/sim/world.c tests/sim/slurm.c tests/sim/ec2.c tests/sim/ours.c \
	tests/sim/loop.c tests/sim/faults.c tests/sim/judge.c
check_PROGRAMS += tests/unit/test_sim
TESTS += tests/unit/test_sim
tests_unit_test_sim_SOURCES = $(sim_sources)
tests_unit_test_sim_LDADD = $(LIBS_PURE)

# As many as wanted, from any seed: make check-sim N=100000 SEED=1
check-sim: tests/unit/test_sim
	@SE_SIM_WORLDS=$${N-20000} SE_SIM_SEED=$${SEED-1} tests/unit/test_sim
.PHONY: check-sim

# Hundreds on a real slurmctld with the local cloud, as root: make check-sim-real N=100
check-sim-real:
	@cd $(top_srcdir) && tests/sim/real $${N-100} $${SEED-1}
.PHONY: check-sim-real
EXTRA_DIST += tests/sim/real
