# unit tests of ec2local: a cmocka program per noun, added to check_PROGRAMS and TESTS
if HAVE_MICROHTTPD
# the server against the aws command and botocore; skips itself where they are missing
TESTS += tests/oracle/ec2local_aws
endif
EXTRA_DIST += tests/oracle/ec2local_aws
