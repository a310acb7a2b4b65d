# bench: what the programs cost, on this machine, against the local cloud
noinst_PROGRAMS += %D%/measure
%C%_measure_SOURCES = %D%/measure.c
EXTRA_DIST += %D%/resume %D%/resume.py %D%/boot1000 %D%/boot1000.py %D%/loop %D%/loop.py
noinst_PROGRAMS += %D%/floor
%C%_floor_SOURCES = %D%/floor.c
%C%_floor_LDADD = $(SLURM_LDFLAGS) $(SLURM_LIBS) $(CURL_LIBS)
noinst_PROGRAMS += %D%/identify_all
%C%_identify_all_SOURCES = %D%/identify_all.c computemgtd/identify.c computemgtd/match.c lib/base/sanitizer.c
%C%_identify_all_LDADD = $(LIBS_SLURMCTL)
noinst_PROGRAMS += %D%/loops
%C%_loops_SOURCES = %D%/loops.c lib/base/sanitizer.c
%C%_loops_LDADD = clustermgtd/libloop.a $(LIBS_ALL)
