# unit tests of state: a cmocka program per noun, added to check_PROGRAMS and TESTS
