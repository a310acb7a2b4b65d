# cli: slurm-ec2, the command a person runs; one file a command
bin_PROGRAMS += %D%/slurm-ec2
%C%_slurm_ec2_SOURCES = %D%/slurm-ec2.c %D%/command.h \
	%D%/cmd_check.c \
	%D%/cmd_version.c
%C%_slurm_ec2_CPPFLAGS = $(AM_CPPFLAGS) -DSE_SLURM_VERSION='"$(SE_SLURM_VERSION)"'
%C%_slurm_ec2_LDADD = $(LIBS_CLUSTER)
