# unit tests of aws: a cmocka program per noun, added to check_PROGRAMS and TESTS
if HAVE_CMOCKA
AWS_UNIT_LIBS = $(LIBS_AWS) $(CMOCKA_LIBS)
aws_unit_tests = %D%/test_sigv4 %D%/test_query %D%/test_classify %D%/test_bucket %D%/test_endpoint %D%/test_credentials \
	%D%/test_reply %D%/test_http
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
%C%_test_endpoint_SOURCES = %D%/test_endpoint.c
%C%_test_endpoint_LDADD = $(AWS_UNIT_LIBS)
%C%_test_credentials_SOURCES = %D%/test_credentials.c
%C%_test_credentials_LDADD = $(AWS_UNIT_LIBS)
%C%_test_reply_SOURCES = %D%/test_reply.c
%C%_test_reply_LDADD = $(AWS_UNIT_LIBS)
%C%_test_http_SOURCES = %D%/test_http.c
%C%_test_http_LDADD = $(AWS_UNIT_LIBS)
EXTRA_DIST += %D%/ec2_server.py
endif
