noinst_LIBRARIES += %D%/libbase.a
%C%_libbase_a_SOURCES = %D%/buf.c %D%/buf.h %D%/clock.c %D%/clock.h %D%/err.c %D%/err.h %D%/file.c %D%/file.h %D%/file_tree.c \
	%D%/jview.c %D%/jview.h %D%/log.c %D%/log.h %D%/num.c %D%/num.h %D%/options.c %D%/options.h %D%/proc.c %D%/proc.h %D%/proc_start.c \
	%D%/proc_start.h %D%/problem.c %D%/problem.h %D%/str.c %D%/str.h %D%/strs.c %D%/user.c %D%/user.h
