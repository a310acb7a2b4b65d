# unit tests of base: a cmocka program per noun, added to check_PROGRAMS and TESTS
if HAVE_CMOCKA
base_tests = %D%/test_buf %D%/test_clock %D%/test_err %D%/test_file %D%/test_jview %D%/test_log %D%/test_num %D%/test_proc \
	%D%/test_problem %D%/test_str %D%/test_user
check_PROGRAMS += $(base_tests)
TESTS += $(base_tests)
libs_test_base = lib/base/libbase.a $(JSONC_LIBS) $(CMOCKA_LIBS)
%C%_test_buf_SOURCES = %D%/test_buf.c %D%/test.h
%C%_test_buf_LDADD = $(libs_test_base)
%C%_test_clock_SOURCES = %D%/test_clock.c %D%/test.h
%C%_test_clock_LDADD = $(libs_test_base)
%C%_test_err_SOURCES = %D%/test_err.c %D%/test.h
%C%_test_err_LDADD = $(libs_test_base)
%C%_test_file_SOURCES = %D%/test_file.c %D%/test.h
%C%_test_file_LDADD = $(libs_test_base)
%C%_test_jview_SOURCES = %D%/test_jview.c %D%/test.h
%C%_test_jview_LDADD = $(libs_test_base)
%C%_test_log_SOURCES = %D%/test_log.c %D%/test.h
%C%_test_log_LDADD = $(libs_test_base)
%C%_test_num_SOURCES = %D%/test_num.c %D%/test.h
%C%_test_num_LDADD = $(libs_test_base)
%C%_test_proc_SOURCES = %D%/test_proc.c %D%/test.h
%C%_test_proc_LDADD = $(libs_test_base)
%C%_test_problem_SOURCES = %D%/test_problem.c %D%/test.h
%C%_test_problem_LDADD = $(libs_test_base)
%C%_test_str_SOURCES = %D%/test_str.c %D%/test.h
%C%_test_str_LDADD = $(libs_test_base)
%C%_test_user_SOURCES = %D%/test_user.c %D%/test.h
%C%_test_user_LDADD = $(libs_test_base)
endif
