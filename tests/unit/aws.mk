# unit tests of aws: a cmocka program per noun, added to check_PROGRAMS and TESTS
if HAVE_CMOCKA
AWS_UNIT_LIBS = $(LIBS_AWS) $(CMOCKA_LIBS)
aws_unit_tests = %D%/test_sigv4 %D%/test_query %D%/test_classify %D%/test_bucket %D%/test_bucket_share \
	%D%/test_endpoint %D%/test_credentials %D%/test_credentials_chain %D%/test_reply %D%/test_http %D%/test_ec2_body %D%/test_quota_code
check_PROGRAMS += $(aws_unit_tests)
TESTS += $(aws_unit_tests)
%C%_test_sigv4_SOURCES = %D%/test_sigv4.c
%C%_test_sigv4_LDADD = $(AWS_UNIT_LIBS)
%C%_test_query_SOURCES = %D%/test_query.c
%C%_test_query_LDADD = $(AWS_UNIT_LIBS)
%C%_test_classify_SOURCES = %D%/test_classify.c
%C%_test_classify_LDADD = $(AWS_UNIT_LIBS)
%C%_test_bucket_SOURCES = %D%/test_bucket.c
%C%_test_bucket_LDADD = $(AWS_UNIT_LIBS)
%C%_test_bucket_share_SOURCES = %D%/test_bucket_share.c
%C%_test_bucket_share_LDADD = $(AWS_UNIT_LIBS)
%C%_test_endpoint_SOURCES = %D%/test_endpoint.c
%C%_test_endpoint_LDADD = $(AWS_UNIT_LIBS)
%C%_test_credentials_SOURCES = %D%/test_credentials.c
%C%_test_credentials_LDADD = $(AWS_UNIT_LIBS)
%C%_test_credentials_chain_SOURCES = %D%/test_credentials_chain.c %D%/http_server.c %D%/http_server.h %D%/cmocka_all.h
%C%_test_credentials_chain_LDADD = $(AWS_UNIT_LIBS)
%C%_test_reply_SOURCES = %D%/test_reply.c
%C%_test_reply_LDADD = $(AWS_UNIT_LIBS)
%C%_test_http_SOURCES = %D%/test_http.c %D%/http_server.c %D%/http_server.h %D%/cmocka_all.h
%C%_test_http_LDADD = $(AWS_UNIT_LIBS)
%C%_test_ec2_body_SOURCES = %D%/test_ec2_body.c tests/oracle/sample_calls.c tests/oracle/sample_calls.h
%C%_test_ec2_body_LDADD = $(AWS_UNIT_LIBS)
%C%_test_quota_code_SOURCES = %D%/test_quota_code.c
%C%_test_quota_code_LDADD = $(AWS_UNIT_LIBS)
endif
EXTRA_DIST += %D%/ec2_server.py %D%/keys_server.py

# against programs nobody here wrote; skipped where they are missing
check_PROGRAMS += tests/oracle/aws_probe
tests_oracle_aws_probe_SOURCES = tests/oracle/aws_probe.c tests/oracle/sample_calls.c tests/oracle/sample_calls.h
tests_oracle_aws_probe_LDADD = $(LIBS_AWS)
aws_oracles = tests/oracle/test_requests tests/oracle/test_signatures.py tests/oracle/test_profiles.py tests/oracle/test_answers.py tests/oracle/test_overrides.py
TESTS += $(aws_oracles)
EXTRA_DIST += $(aws_oracles) tests/oracle/check_request.py
