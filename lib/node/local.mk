noinst_LIBRARIES += %D%/libnode.a
%C%_libnode_a_SOURCES = %D%/binding.c %D%/binding.h %D%/extra.c %D%/extra.h %D%/failure.c %D%/failure.h %D%/health.c %D%/health.h %D%/instance.c %D%/instance.h \
	%D%/itype.c %D%/itype.h %D%/job.c %D%/job.h %D%/map.c %D%/map.h %D%/name.c %D%/name.h %D%/node.c %D%/node.h %D%/nodeset.c %D%/nodeset.h \
	%D%/offering.c %D%/offering.h %D%/partition.c %D%/partition.h
