# unit tests of plan: a cmocka program per noun, added to check_PROGRAMS and TESTS
