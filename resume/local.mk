# resume: ResumeProgram. In libexec, because slurmctld runs it, not people.
pkglibexec_PROGRAMS += %D%/resume
%C%_resume_SOURCES = %D%/resume.c lib/base/sanitizer.c
%C%_resume_LDADD = $(LIBS_ALL)
