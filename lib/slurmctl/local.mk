noinst_LIBRARIES += %D%/libslurmctl.a
%C%_libslurmctl_a_SOURCES = \
	%D%/slurmctl.h %D%/resume_file.h %D%/slurm_compat.h \
	%D%/slurmctl.c %D%/nodes.c %D%/update.c %D%/conf.c %D%/jobs.c %D%/partitions.c %D%/priorities.c %D%/reservation.c %D%/resume_file.c
