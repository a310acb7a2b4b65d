# unit tests of base: a cmocka program per noun, added to check_PROGRAMS and TESTS
