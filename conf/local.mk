noinst_LIBRARIES += %D%/libconf.a
%C%_libconf_a_SOURCES = \
	%D%/facts.c %D%/facts.h \
	%D%/hardware.c %D%/hardware.h \
	%D%/interfaces.c %D%/interfaces.h \
	%D%/site.c %D%/site.h \
	%D%/slurm_conf.c %D%/slurm_conf.h \
	%D%/slurm_files.c %D%/slurm_files.h \
	%D%/template.c %D%/template.h
