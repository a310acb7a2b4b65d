# unit tests of conf: a cmocka program per noun, added to check_PROGRAMS and TESTS
if HAVE_CMOCKA
check_PROGRAMS += %D%/test_bootstrap
TESTS += %D%/test_bootstrap
%C%_test_bootstrap_SOURCES = %D%/test_bootstrap.c
%C%_test_bootstrap_LDADD = conf/libconf.a lib/node/libnode.a lib/cluster/libcluster.a lib/base/libbase.a $(YAML_LIBS) $(CMOCKA_LIBS) $(JSONC_LIBS)

CONF_UNIT_LIBS = $(LIBS_ALL) $(CMOCKA_LIBS)
CONF_UNIT_CPPFLAGS = $(AM_CPPFLAGS) -DTEST_DATA='"$(abs_top_srcdir)/tests/data/conf"'
conf_unit_tests = %D%/test_hardware %D%/test_slurm_conf %D%/test_slurm_files %D%/test_template %D%/test_launch_rules %D%/test_trial_folder
check_PROGRAMS += $(conf_unit_tests)
TESTS += $(conf_unit_tests)
%C%_test_hardware_SOURCES = %D%/test_hardware.c %D%/test.h
%C%_test_hardware_CPPFLAGS = $(CONF_UNIT_CPPFLAGS)
%C%_test_hardware_LDADD = $(CONF_UNIT_LIBS)
%C%_test_slurm_conf_SOURCES = %D%/test_slurm_conf.c %D%/test.h
%C%_test_slurm_conf_LDADD = $(CONF_UNIT_LIBS)
%C%_test_slurm_files_SOURCES = %D%/test_slurm_files.c %D%/test.h
%C%_test_slurm_files_CPPFLAGS = $(CONF_UNIT_CPPFLAGS)
%C%_test_slurm_files_LDADD = $(CONF_UNIT_LIBS)
%C%_test_template_SOURCES = %D%/test_template.c %D%/test.h
%C%_test_template_CPPFLAGS = $(CONF_UNIT_CPPFLAGS)
%C%_test_template_LDADD = $(CONF_UNIT_LIBS)
%C%_test_launch_rules_SOURCES = %D%/test_launch_rules.c %D%/test.h cli/secgroup.c cli/secgroup.h cli/image.c cli/image.h
%C%_test_launch_rules_LDADD = $(CONF_UNIT_LIBS)
%C%_test_trial_folder_SOURCES = %D%/test_trial_folder.c %D%/test.h cli/trial_folder.c cli/trial_folder.h
%C%_test_trial_folder_LDADD = $(CONF_UNIT_LIBS)
endif

# What apply asks of EC2, against a model that was not written here; skipped where it is missing.
check_PROGRAMS += tests/oracle/template_probe
tests_oracle_template_probe_SOURCES = tests/oracle/template_probe.c
tests_oracle_template_probe_LDADD = $(LIBS_ALL)
TESTS += tests/oracle/test_templates
EXTRA_DIST += tests/oracle/test_templates

# The commands that change nothing, from outside.
TESTS += tests/cli_render
EXTRA_DIST += tests/cli_render tests/data/conf/types.json tests/data/conf/quickstart.yaml tests/data/conf/workshop.yaml \
	tests/data/conf/two-kinds.yaml tests/data/conf/network-cards.json \
	tests/data/conf/golden/quickstart-22.05.8-slurm-ec2.conf tests/data/conf/golden/quickstart-23.11.10-slurm-ec2.conf \
	tests/data/conf/golden/workshop-22.05.8-slurm-ec2.conf tests/data/conf/golden/workshop-23.11.10-slurm-ec2.conf \
	tests/data/conf/golden/two-kinds-22.05.8-slurm-ec2.conf tests/data/conf/golden/two-kinds-23.11.10-slurm-ec2.conf \
	tests/data/conf/golden/two-kinds-22.05.8-slurm-ec2-gres.conf tests/data/conf/golden/two-kinds-23.11.10-slurm-ec2-gres.conf
