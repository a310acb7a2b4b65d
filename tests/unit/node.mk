# unit tests of node: a cmocka program per noun, added to check_PROGRAMS and TESTS
