noinst_LIBRARIES += %D%/libplan.a
%C%_libplan_a_SOURCES = %D%/plan.c %D%/plan.h
