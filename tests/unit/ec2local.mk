# unit tests of ec2local: a cmocka program per noun, added to check_PROGRAMS and TESTS
