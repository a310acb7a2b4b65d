# unit tests of cluster: a cmocka program per noun, added to check_PROGRAMS and TESTS
