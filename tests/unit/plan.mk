# unit tests of plan: a cmocka program per noun, added to check_PROGRAMS and TESTS
if HAVE_CMOCKA
plan_tests = tests/unit/test_plan_resume tests/unit/test_plan_stages tests/unit/test_plan_reconcile tests/unit/test_plan_bindings \
	tests/unit/test_node_rules tests/unit/test_plan_nodes tests/unit/test_plan_blocks tests/unit/test_capacity tests/unit/test_plan_property \
	tests/unit/test_plan_nomem tests/unit/test_fleet tests/unit/test_brake tests/unit/test_invariants
plan_tests += tests/unit/test_protect
check_PROGRAMS += $(plan_tests)
TESTS += $(plan_tests)
tests_unit_test_plan_resume_SOURCES = tests/unit/test_plan_resume.c tests/unit/cmocka_all.h tests/unit/resume_text.h
tests_unit_test_plan_resume_LDADD = $(LIBS_PURE) $(CMOCKA_LIBS)
tests_unit_test_plan_stages_SOURCES = tests/unit/test_plan_stages.c tests/unit/cmocka_all.h tests/unit/resume_text.h
tests_unit_test_plan_stages_LDADD = $(LIBS_PURE) $(CMOCKA_LIBS)
tests_unit_test_plan_reconcile_SOURCES = tests/unit/test_plan_reconcile.c tests/unit/cmocka_all.h
tests_unit_test_plan_reconcile_LDADD = $(LIBS_PURE) $(CMOCKA_LIBS)
tests_unit_test_plan_bindings_SOURCES = tests/unit/test_plan_bindings.c tests/unit/cmocka_all.h
tests_unit_test_plan_bindings_LDADD = $(LIBS_PURE) $(CMOCKA_LIBS)
# every combination of state, machine and reason against the table
tests_unit_test_node_rules_SOURCES = tests/unit/test_node_rules.c tests/unit/cmocka_all.h
tests_unit_test_node_rules_LDADD = $(LIBS_PURE) $(CMOCKA_LIBS)
tests_unit_test_plan_nodes_SOURCES = tests/unit/test_plan_nodes.c tests/unit/cmocka_all.h
tests_unit_test_plan_nodes_LDADD = $(LIBS_PURE) $(CMOCKA_LIBS)
tests_unit_test_plan_blocks_SOURCES = tests/unit/test_plan_blocks.c tests/unit/cmocka_all.h
tests_unit_test_plan_blocks_LDADD = $(LIBS_PURE) $(CMOCKA_LIBS)
tests_unit_test_capacity_SOURCES = tests/unit/test_capacity.c tests/unit/cmocka_all.h
tests_unit_test_capacity_LDADD = $(LIBS_PURE) $(CMOCKA_LIBS)
tests_unit_test_fleet_SOURCES = tests/unit/test_fleet.c tests/unit/cmocka_all.h
tests_unit_test_fleet_LDADD = $(LIBS_PURE) $(CMOCKA_LIBS)
tests_unit_test_brake_SOURCES = tests/unit/test_brake.c tests/unit/cmocka_all.h
tests_unit_test_brake_LDADD = $(LIBS_PURE) $(CMOCKA_LIBS)
tests_unit_test_invariants_SOURCES = tests/unit/test_invariants.c tests/unit/cmocka_all.h
tests_unit_test_invariants_LDADD = $(LIBS_PURE) $(CMOCKA_LIBS)
tests_unit_test_protect_SOURCES = tests/unit/test_protect.c tests/unit/cmocka_all.h
tests_unit_test_protect_LDADD = $(LIBS_PURE) $(CMOCKA_LIBS)
# many random worlds, judged by rules of its own
tests_unit_test_plan_property_SOURCES = tests/unit/test_plan_property.c tests/unit/property.h tests/unit/property_world.c \
	tests/unit/property_run.c tests/unit/property_judge.c tests/unit/cmocka_all.h
tests_unit_test_plan_property_LDADD = $(LIBS_PURE) $(CMOCKA_LIBS)
# the same worlds when memory runs out
tests_unit_test_plan_nomem_SOURCES = tests/unit/test_plan_nomem.c tests/unit/property.h tests/unit/property_world.c \
	tests/unit/property_run.c tests/unit/property_judge.c tests/unit/cmocka_all.h
tests_unit_test_plan_nomem_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
tests_unit_test_plan_nomem_LDADD = $(LIBS_PURE) $(CMOCKA_LIBS)
endif

# Faults planted in a copy of lib/plan, one at a time: each must turn one of these tests red. Not part of `make check`.
check-faults: $(plan_tests)
	@srcdir='$(srcdir)' CC='$(CC)' FLAGS='-I$(top_srcdir) -I$(top_builddir) $(AM_CFLAGS) $(CFLAGS)' \
	LINK_FLAGS='$(AM_LDFLAGS) $(LDFLAGS)' LIBS='$(LIBS_PURE) $(CMOCKA_LIBS) $(LIBS)' \
	PLAN_TESTS='$(filter-out %_nomem,$(plan_tests))' OBJECTS_test_plan_property='$(tests_unit_test_plan_property_OBJECTS)' \
	$(srcdir)/tests/plant_faults $(FAULTS)
.PHONY: check-faults
EXTRA_DIST += tests/plant_faults.d/protect.txt
EXTRA_DIST += tests/plant_faults tests/plant_faults.d/reconcile.txt tests/plant_faults.d/capacity.txt tests/plant_faults.d/bindings.txt tests/plant_faults.d/resume.txt \
	tests/plant_faults.d/fleet.txt tests/plant_faults.d/brake.txt
