# unit tests of plan: a cmocka program per noun, added to check_PROGRAMS and TESTS
if HAVE_CMOCKA
plan_tests = tests/unit/test_plan_resume tests/unit/test_plan_reconcile
check_PROGRAMS += $(plan_tests)
TESTS += $(plan_tests)
tests_unit_test_plan_resume_SOURCES = tests/unit/test_plan_resume.c tests/unit/cmocka_all.h
tests_unit_test_plan_resume_LDADD = $(LIBS_PURE) $(CMOCKA_LIBS)
tests_unit_test_plan_reconcile_SOURCES = tests/unit/test_plan_reconcile.c tests/unit/cmocka_all.h
tests_unit_test_plan_reconcile_LDADD = $(LIBS_PURE) $(CMOCKA_LIBS)
endif
