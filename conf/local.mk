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

# Units and log rotation. Paths are full, so configure cannot write them: it leaves ${prefix} in its variables.
SE_SUBST = $(SED) -e 's|@sbindir[@]|$(sbindir)|g' -e 's|@pkgstatedir[@]|$(pkgstatedir)|g' -e 's|@pkglogdir[@]|$(pkglogdir)|g' \
	-e 's|@pkglibexecdir[@]|$(pkglibexecdir)|g' -e 's|@SLURM_USER[@]|$(SLURM_USER)|g' \
	-e "s|@SLURM_GROUP[@]|`id -gn '$(SLURM_USER)' 2>/dev/null || echo '$(SLURM_USER)'`|g"
systemdsystemunit_DATA = %D%/slurm-ec2-clustermgtd.service
logrotatedir = $(sysconfdir)/logrotate.d
logrotate_DATA = %D%/slurm-ec2
EXTRA_DIST += %D%/systemd/slurm-ec2-clustermgtd.service.in %D%/logrotate/slurm-ec2.in
CLEANFILES += $(systemdsystemunit_DATA) $(logrotate_DATA)
%D%/slurm-ec2-clustermgtd.service: $(srcdir)/%D%/systemd/slurm-ec2-clustermgtd.service.in Makefile
	$(AM_V_GEN)$(MKDIR_P) %D% && $(SE_SUBST) $(srcdir)/%D%/systemd/slurm-ec2-clustermgtd.service.in >$@.tmp && mv $@.tmp $@
%D%/slurm-ec2: $(srcdir)/%D%/logrotate/slurm-ec2.in Makefile
	$(AM_V_GEN)$(MKDIR_P) %D% && $(SE_SUBST) $(srcdir)/%D%/logrotate/slurm-ec2.in >$@.tmp && mv $@.tmp $@

# Folders of state and logs belong to SlurmUser; an installation that is not root's leaves that to the packager.
install-data-local:
	$(MKDIR_P) "$(DESTDIR)$(pkgsysconfdir)" "$(DESTDIR)$(pkgstatedir)" "$(DESTDIR)$(pkglogdir)"
	if test "$$(id -u)" = 0 && id "$(SLURM_USER)" >/dev/null 2>&1; then \
		chown "$(SLURM_USER):" "$(DESTDIR)$(pkgstatedir)" "$(DESTDIR)$(pkglogdir)"; fi
# After the files: folders that are ours alone, as far as they are empty.
uninstall-hook:
	-rmdir "$(DESTDIR)$(pkgsysconfdir)" "$(DESTDIR)$(pkgstatedir)" "$(DESTDIR)$(pkglogdir)" "$(DESTDIR)$(examplesdir)" \
		"$(DESTDIR)$(pkgdatadir)" "$(DESTDIR)$(pkglibexecdir)/image" "$(DESTDIR)$(pkglibexecdir)" 2>/dev/null

# For Prometheus and Grafana.
dist_pkgdata_DATA += %D%/grafana/slurm-ec2.json %D%/prometheus/slurm-ec2.rules.yml

examplesdir = $(pkgdatadir)/examples
dist_examples_DATA = examples/quickstart.yaml examples/several-types.yaml examples/workshop.yaml examples/settings.yaml examples/hellojob.sh
