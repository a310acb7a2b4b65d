# unit tests of slurmctl: a cmocka program per noun, added to check_PROGRAMS and TESTS
if HAVE_CMOCKA
check_PROGRAMS += %D%/test_resume_file
TESTS += %D%/test_resume_file
%C%_test_resume_file_SOURCES = %D%/test_resume_file.c
%C%_test_resume_file_LDADD = $(LIBS_SLURMCTL) $(CMOCKA_LIBS)
endif
