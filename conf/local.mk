noinst_LIBRARIES += %D%/libconf.a
%C%_libconf_a_SOURCES = \
	%D%/bootstrap.c %D%/bootstrap.h \
	%D%/facts.c %D%/facts.h \
	%D%/hardware.c %D%/hardware.h \
	%D%/interfaces.c %D%/interfaces.h \
	%D%/site.c %D%/site.h \
	%D%/slurm_conf.c %D%/slurm_conf.h \
	%D%/slurm_files.c %D%/slurm_files.h \
	%D%/template.c %D%/template.h

# The boot script as a C string, so that no program needs a file to launch a machine.
EXTRA_DIST += %D%/bootstrap.sh.in
CLEANFILES += %D%/bootstrap_text.h
%D%/bootstrap.$(OBJEXT): %D%/bootstrap_text.h
%D%/bootstrap_text.h: $(srcdir)/%D%/bootstrap.sh.in
	$(AM_V_GEN)$(MKDIR_P) %D% && $(SED) -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/"/' -e 's/$$/\\n"/' $(srcdir)/%D%/bootstrap.sh.in >$@.tmp && mv $@.tmp $@
