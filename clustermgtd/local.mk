# clustermgtd: the head node's daemon
sbin_PROGRAMS += %D%/clustermgtd
%C%_clustermgtd_SOURCES = %D%/clustermgtd.c lib/base/sanitizer.c %D%/observe.c %D%/observe.h %D%/stamp.c %D%/stamp.h %D%/notify.c %D%/notify.h \
	%D%/wait.c %D%/wait.h %D%/block_watch.c %D%/block_watch.h %D%/clock_watch.c %D%/clock_watch.h %D%/clouds.c %D%/clouds.h %D%/decide.c \
	%D%/rows.c %D%/rows.h %D%/source.c %D%/source.h
%C%_clustermgtd_LDADD = $(LIBS_ALL)
