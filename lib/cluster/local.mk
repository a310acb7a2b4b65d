noinst_LIBRARIES += %D%/libcluster.a
%C%_libcluster_a_SOURCES = \
	%D%/cluster.c %D%/cluster.h %D%/generation.c %D%/generation.h
