# bench: what the programs cost, on this machine, against the local cloud
noinst_PROGRAMS += %D%/measure
%C%_measure_SOURCES = %D%/measure.c
EXTRA_DIST += %D%/resume
