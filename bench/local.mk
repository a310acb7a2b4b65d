# bench: what the programs cost, on this machine, against the local cloud
noinst_PROGRAMS += %D%/measure
%C%_measure_SOURCES = %D%/measure.c
EXTRA_DIST += %D%/resume %D%/resume.py
noinst_PROGRAMS += %D%/floor
%C%_floor_SOURCES = %D%/floor.c
%C%_floor_LDADD = $(SLURM_LDFLAGS) $(SLURM_LIBS) $(CURL_LIBS)
