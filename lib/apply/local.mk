noinst_LIBRARIES += %D%/libapply.a
%C%_libapply_a_SOURCES = %D%/apply.h %D%/world.c %D%/lock.c %D%/poke.c %D%/heartbeat.c %D%/heartbeat.h \
	%D%/tell.c %D%/tell.h %D%/launch.c %D%/launch.h %D%/bind.c %D%/bind.h %D%/resume.c %D%/suspend.c
