# unit tests of aws: a cmocka program per noun, added to check_PROGRAMS and TESTS
