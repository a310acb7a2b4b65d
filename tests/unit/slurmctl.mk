# unit tests of slurmctl: a cmocka program per noun, added to check_PROGRAMS and TESTS
