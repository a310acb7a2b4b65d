# unit tests of state: a cmocka program per noun, added to check_PROGRAMS and TESTS
if HAVE_CMOCKA
state_tests = %D%/test_store %D%/test_store_crash
check_PROGRAMS += $(state_tests)
TESTS += $(state_tests)
%C%_test_store_SOURCES = %D%/test_store.c %D%/test_store.h %D%/test.h
%C%_test_store_LDADD = $(LIBS_STATE) $(CMOCKA_LIBS)
%C%_test_store_crash_SOURCES = %D%/test_store_crash.c %D%/test_store.h %D%/test.h
%C%_test_store_crash_LDADD = $(LIBS_STATE) $(CMOCKA_LIBS)
endif
