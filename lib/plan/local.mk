noinst_LIBRARIES += %D%/libplan.a
%C%_libplan_a_SOURCES = %D%/capacity.c %D%/capacity.h %D%/plan.c %D%/plan.h %D%/resume.c %D%/resume.h
