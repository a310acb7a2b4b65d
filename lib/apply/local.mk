noinst_LIBRARIES += %D%/libapply.a
%C%_libapply_a_SOURCES = %D%/apply.h %D%/world.c %D%/lock.c %D%/poke.c %D%/heartbeat.c %D%/heartbeat.h \
	%D%/tell.c %D%/tell.h %D%/launch.c %D%/launch.h %D%/fleet.c %D%/fleet.h %D%/bind.c %D%/bind.h %D%/settle.c %D%/settle.h \
	%D%/cloud.c %D%/cloud.h %D%/memory.c %D%/memory.h %D%/run.c %D%/run.h %D%/fail.c %D%/fail.h %D%/resume.c %D%/suspend.c \
	%D%/failed_boot.c %D%/failed_boot.h %D%/console.c %D%/console.h \
	%D%/last_settings.c %D%/last_settings.h \
	%D%/say.c %D%/event.c %D%/event.h %D%/retry.c %D%/retry.h %D%/carry.c %D%/partitions.c %D%/partitions.h %D%/wish.c %D%/wish.h %D%/note.c %D%/note.h
