# clustermgtd: the head node's daemon. Its loop is a library, which bench/loop also runs.
noinst_LIBRARIES += %D%/libloop.a
%C%_libloop_a_SOURCES = %D%/block_watch.c %D%/block_watch.h %D%/clock_watch.c %D%/clock_watch.h %D%/clouds.c %D%/clouds.h %D%/concerns.c %D%/concerns.h \
	%D%/decide.c %D%/loop.c %D%/loop.h %D%/metrics.c %D%/metrics.h %D%/notify.c %D%/notify.h %D%/observe.c %D%/observe.h %D%/report.c %D%/report.h %D%/rows.c \
	%D%/rows.h %D%/source.c %D%/source.h %D%/stamp.c %D%/stamp.h
sbin_PROGRAMS += %D%/clustermgtd
%C%_clustermgtd_SOURCES = %D%/clustermgtd.c lib/base/sanitizer.c %D%/exporter.c %D%/exporter.h %D%/wait.c %D%/wait.h
%C%_clustermgtd_CFLAGS = $(AM_CFLAGS) $(MICROHTTPD_CFLAGS)
%C%_clustermgtd_LDADD = %D%/libloop.a $(LIBS_ALL) $(MICROHTTPD_LIBS) -lpthread
