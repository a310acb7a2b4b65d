# unit tests of ec2local: a cmocka program per noun, added to check_PROGRAMS and TESTS
if HAVE_CMOCKA
ec2local_tests = %D%/test_ec2local_cloud %D%/test_params %D%/test_policy %D%/test_sigv4check
check_PROGRAMS += $(ec2local_tests)
TESTS += $(ec2local_tests)
libs_test_ec2local = $(libs_ec2local) $(CMOCKA_LIBS)
%C%_test_ec2local_cloud_SOURCES = %D%/test_ec2local_cloud.c %D%/test.h
%C%_test_ec2local_cloud_CPPFLAGS = $(AM_CPPFLAGS) -DSRCDIR='"$(abs_top_srcdir)"'
%C%_test_ec2local_cloud_LDADD = $(libs_test_ec2local)
%C%_test_params_SOURCES = %D%/test_params.c %D%/test.h
%C%_test_params_LDADD = $(libs_test_ec2local)
%C%_test_policy_SOURCES = %D%/test_policy.c %D%/test.h
%C%_test_policy_LDADD = $(libs_test_ec2local)
%C%_test_sigv4check_SOURCES = %D%/test_sigv4check.c %D%/test.h
%C%_test_sigv4check_LDADD = $(libs_test_ec2local)
endif
# the server against the aws command and botocore; skips itself where they are missing
TESTS += tests/oracle/ec2local_aws
EXTRA_DIST += tests/oracle/ec2local_aws
