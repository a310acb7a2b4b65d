# unit tests of plan: a cmocka program per noun, added to check_PROGRAMS and TESTS
if HAVE_CMOCKA
plan_tests = tests/unit/test_plan_resume tests/unit/test_plan_reconcile tests/unit/test_plan_blocks
check_PROGRAMS += $(plan_tests)
TESTS += $(plan_tests)
tests_unit_test_plan_resume_SOURCES = tests/unit/test_plan_resume.c tests/unit/cmocka_all.h
tests_unit_test_plan_resume_LDADD = $(LIBS_PURE) $(CMOCKA_LIBS)
tests_unit_test_plan_reconcile_SOURCES = tests/unit/test_plan_reconcile.c tests/unit/cmocka_all.h
tests_unit_test_plan_reconcile_LDADD = $(LIBS_PURE) $(CMOCKA_LIBS)
check_PROGRAMS += tests/unit/test_plan_property
# many random worlds, judged by rules of its own
tests_unit_test_plan_property_SOURCES = tests/unit/test_plan_property.c tests/unit/property.h tests/unit/property_world.c \
	tests/unit/property_run.c tests/unit/property_judge.c tests/unit/cmocka_all.h
tests_unit_test_plan_property_LDADD = $(LIBS_PURE) $(CMOCKA_LIBS)
tests_unit_test_plan_blocks_SOURCES = tests/unit/test_plan_blocks.c tests/unit/cmocka_all.h
tests_unit_test_plan_blocks_LDADD = $(LIBS_PURE) $(CMOCKA_LIBS)
endif
