# tests: unit (cmocka), scenarios (a real slurmctld and slurmd in namespaces), oracles, the layer table
include tests/unit/base.mk
include tests/unit/cluster.mk
include tests/unit/node.mk
include tests/unit/plan.mk
include tests/unit/aws.mk
include tests/unit/state.mk
include tests/unit/slurmctl.mk
include tests/unit/apply.mk
include tests/unit/conf.mk
include tests/unit/cli.mk
include tests/unit/ec2local.mk
include tests/unit/computemgtd.mk
include tests/sim/local.mk
EXTRA_DIST += demo examples tests/run_scenarios tests/lib tests/scenarios

# The table of rooms: who may include whom, headers that stand alone, a pure lib/plan.
if HAVE_CMOCKA
layers_cmocka = yes
else
layers_cmocka = no
endif
AM_TESTS_ENVIRONMENT = \
	CC='$(CC)'; HAVE_CMOCKA=$(layers_cmocka); \
	LAYERS_FLAGS='-I$(top_builddir) $(SLURM_CPPFLAGS) $(AM_CFLAGS) -Werror'; \
	ASAN_OPTIONS=$${ASAN_OPTIONS-log_path=stderr}; UBSAN_OPTIONS=$${UBSAN_OPTIONS-log_path=stderr}; \
	VERSION='$(VERSION)'; HARDENING='$(enable_hardening)'; PROGRAMS='$(bin_PROGRAMS) $(sbin_PROGRAMS) $(pkglibexec_PROGRAMS)'; CFLAGS='$(CFLAGS)'; \
	export VERSION HARDENING PROGRAMS CFLAGS CC HAVE_CMOCKA LAYERS_FLAGS ASAN_OPTIONS UBSAN_OPTIONS;
TESTS += tests/layers tests/layers_red tests/hardening
EXTRA_DIST += tests/layers tests/layers_red tests/hardening

# The unit tests once more under valgrind: any error or lost block fails. Sanitizer builds see the same and cannot run under it.
VALGRIND_FLAGS = -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite,indirect
check-valgrind: $(check_PROGRAMS)
	@if ! command -v valgrind >/dev/null; then echo "check-valgrind: skipped, there is no valgrind"; exit 0; fi; \
	srcdir='$(srcdir)'; SE_PROPERTY_WORLDS=$${SE_PROPERTY_WORLDS-2000}; SE_SIM_WORLDS=$${SE_SIM_WORLDS-20}; export srcdir SE_PROPERTY_WORLDS SE_SIM_WORLDS; bad=0; n=0; log=check-valgrind.log; : >$$log; \
	for t in $(check_PROGRAMS); do \
		case $$t in tests/unit/test_*) ;; *) continue ;; esac; \
		n=$$((n + 1)); \
		valgrind $(VALGRIND_FLAGS) ./$$t >>$$log 2>&1 || { echo "FAIL: valgrind $$t (see $$log)"; bad=$$((bad + 1)); }; \
	done; \
	echo "check-valgrind: $$n programs, $$bad failed"; test $$bad -eq 0
.PHONY: check-valgrind
CLEANFILES += check-valgrind.log
