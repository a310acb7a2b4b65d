# unit tests of slurmctl: a cmocka program per noun, added to check_PROGRAMS and TESTS
if HAVE_CMOCKA
slurmctl_tests = %D%/test_resume_file %D%/test_update
check_PROGRAMS += $(slurmctl_tests)
TESTS += $(slurmctl_tests)
%C%_test_resume_file_SOURCES = %D%/test_resume_file.c
%C%_test_resume_file_LDADD = $(LIBS_SLURMCTL) $(CMOCKA_LIBS)
%C%_test_update_SOURCES = %D%/test_update.c %D%/test.h
%C%_test_update_LDADD = $(LIBS_SLURMCTL) $(CMOCKA_LIBS)
endif
