# unit tests of computemgtd: a cmocka program per noun, added to check_PROGRAMS and TESTS
if HAVE_CMOCKA
check_PROGRAMS += %D%/test_match
TESTS += %D%/test_match
%C%_test_match_SOURCES = %D%/test_match.c computemgtd/match.c
%C%_test_match_LDADD = lib/node/libnode.a lib/base/libbase.a $(CMOCKA_LIBS) $(JSONC_LIBS)
endif
