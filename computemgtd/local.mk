# computemgtd
sbin_PROGRAMS += %D%/computemgtd
%C%_computemgtd_SOURCES = %D%/computemgtd.c lib/base/sanitizer.c %D%/identify.c %D%/identify.h %D%/match.c %D%/match.h %D%/hosts.c %D%/hosts.h \
	%D%/peers.c %D%/peers.h
%C%_computemgtd_LDADD = $(LIBS_SLURMCTL)
