# unit tests of plan: a cmocka program per noun, added to check_PROGRAMS and TESTS
if HAVE_CMOCKA
plan_tests =
check_PROGRAMS += $(plan_tests)
TESTS += $(plan_tests)
endif
