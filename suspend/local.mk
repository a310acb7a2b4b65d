# suspend: SuspendProgram and ResumeFailProgram
pkglibexec_PROGRAMS += %D%/suspend
%C%_suspend_SOURCES = %D%/suspend.c lib/base/sanitizer.c
%C%_suspend_LDADD = $(LIBS_ALL)
