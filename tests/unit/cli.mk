# unit tests of cli: what status and explain say, from looks made by hand; their texts are in tests/data/cli
if HAVE_CMOCKA
cli_tests = %D%/test_text %D%/test_status %D%/test_explain %D%/test_fleet_view
check_PROGRAMS += $(cli_tests)
TESTS += $(cli_tests)
cli_look = %D%/look_world.c %D%/look_world.h %D%/test.h cli/text.c cli/session.c cli/look_read.c cli/look_judge.c
CLI_UNIT_CPPFLAGS = $(AM_CPPFLAGS) -DTEST_DATA='"$(abs_top_srcdir)/tests/data/cli"'
CLI_UNIT_LIBS = $(LIBS_ALL) $(CMOCKA_LIBS)
%C%_test_text_SOURCES = %D%/test_text.c %D%/test.h cli/text.c
%C%_test_text_LDADD = $(LIBS_PURE) $(CMOCKA_LIBS)
%C%_test_status_SOURCES = %D%/test_status.c $(cli_look) cli/status_judge.c cli/status_text.c cli/status_json.c
%C%_test_status_CPPFLAGS = $(CLI_UNIT_CPPFLAGS)
%C%_test_status_LDADD = $(CLI_UNIT_LIBS)
%C%_test_explain_SOURCES = %D%/test_explain.c $(cli_look) cli/explain_read.c cli/explain_node.c cli/explain_job.c cli/explain_next.c \
	cli/explain_text.c
%C%_test_explain_CPPFLAGS = $(CLI_UNIT_CPPFLAGS)
%C%_test_explain_LDADD = $(CLI_UNIT_LIBS)
%C%_test_fleet_view_SOURCES = %D%/test_fleet_view.c %D%/test.h cli/fleet_view.c cli/fleet_view.h cli/session.c cli/text.c
%C%_test_fleet_view_LDADD = $(CLI_UNIT_LIBS)
endif
EXTRA_DIST += tests/data/cli
