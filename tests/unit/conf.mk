# unit tests of conf: a cmocka program per noun, added to check_PROGRAMS and TESTS
