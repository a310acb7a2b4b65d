# unit tests of apply: its objects with a fake slurmctld and a fake EC2 in place of lib/slurmctl and lib/aws (of which only
# what needs no connection is taken)
if HAVE_CMOCKA
apply_tests = %D%/test_apply_suspend %D%/test_apply_resume %D%/test_apply_fleet %D%/test_apply_plan %D%/test_apply_partitions %D%/test_credentials_mode
apply_tests += %D%/test_failed_boot
check_PROGRAMS += $(apply_tests)
TESTS += $(apply_tests)
apply_fake = %D%/fake_world.c %D%/fake_world.h %D%/test.h
apply_libs = lib/apply/libapply.a conf/libconf.a lib/state/libstate.a lib/plan/libplan.a lib/node/libnode.a \
	lib/cluster/libcluster.a lib/aws/libaws.a lib/base/libbase.a $(SQLITE_LIBS) $(YAML_LIBS) $(JSONC_LIBS) $(CMOCKA_LIBS)
%C%_test_apply_suspend_SOURCES = %D%/test_apply_suspend.c $(apply_fake)
%C%_test_apply_suspend_LDADD = $(apply_libs)
%C%_test_apply_resume_SOURCES = %D%/test_apply_resume.c $(apply_fake)
%C%_test_apply_resume_LDADD = $(apply_libs)
%C%_test_apply_fleet_SOURCES = %D%/test_apply_fleet.c $(apply_fake)
%C%_test_apply_fleet_LDADD = $(apply_libs)
%C%_test_apply_partitions_SOURCES = %D%/test_apply_partitions.c $(apply_fake)
%C%_test_apply_partitions_LDADD = $(apply_libs)
%C%_test_apply_plan_SOURCES = %D%/test_apply_plan.c $(apply_fake)
%C%_test_apply_plan_LDADD = $(apply_libs)
%C%_test_failed_boot_SOURCES = %D%/test_failed_boot.c $(apply_fake)
%C%_test_failed_boot_LDADD = $(apply_libs)
%C%_test_credentials_mode_SOURCES = %D%/test_credentials_mode.c %D%/test.h
%C%_test_credentials_mode_LDADD = $(LIBS_ALL) $(CMOCKA_LIBS)
endif

# clustermgtd's own parts
if HAVE_CMOCKA
check_PROGRAMS += %D%/test_notify %D%/test_observe
TESTS += %D%/test_notify %D%/test_observe
%C%_test_observe_SOURCES = %D%/test_observe.c $(apply_fake)
%C%_test_observe_LDADD = clustermgtd/libloop.a $(apply_libs)
check_PROGRAMS += %D%/test_concerns
TESTS += %D%/test_concerns
%C%_test_concerns_SOURCES = %D%/test_concerns.c $(apply_fake)
%C%_test_concerns_LDADD = clustermgtd/libloop.a $(apply_libs)
check_PROGRAMS += %D%/test_event %D%/test_metrics %D%/test_report
TESTS += %D%/test_event %D%/test_metrics %D%/test_report
%C%_test_report_SOURCES = %D%/test_report.c $(apply_fake)
%C%_test_report_LDADD = clustermgtd/libloop.a $(apply_libs)
%C%_test_event_SOURCES = %D%/test_event.c $(apply_fake)
%C%_test_event_LDADD = $(apply_libs)
%C%_test_metrics_SOURCES = %D%/test_metrics.c clustermgtd/exporter.c clustermgtd/exporter.h $(apply_fake)
%C%_test_metrics_CPPFLAGS = $(AM_CPPFLAGS) -DSRCDIR='"$(abs_top_srcdir)"'
%C%_test_metrics_CFLAGS = $(AM_CFLAGS) $(MICROHTTPD_CFLAGS)
%C%_test_metrics_LDADD = clustermgtd/libloop.a $(apply_libs) $(MICROHTTPD_LIBS) -lpthread
%C%_test_notify_SOURCES = %D%/test_notify.c %D%/test.h clustermgtd/notify.c clustermgtd/notify.h
%C%_test_notify_LDADD = lib/base/libbase.a $(JSONC_LIBS) $(CMOCKA_LIBS)
endif
