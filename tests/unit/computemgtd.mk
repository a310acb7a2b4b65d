# unit tests of computemgtd: a cmocka program per noun, added to check_PROGRAMS and TESTS
if HAVE_CMOCKA
check_PROGRAMS += %D%/test_match %D%/test_hosts
TESTS += %D%/test_match %D%/test_hosts
%C%_test_match_SOURCES = %D%/test_match.c computemgtd/match.c
%C%_test_match_LDADD = lib/node/libnode.a lib/base/libbase.a $(CMOCKA_LIBS) $(JSONC_LIBS)
%C%_test_hosts_SOURCES = %D%/test_hosts.c computemgtd/hosts.c
%C%_test_hosts_LDADD = lib/node/libnode.a lib/base/libbase.a $(CMOCKA_LIBS) $(JSONC_LIBS)
endif
