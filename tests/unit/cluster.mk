# unit tests of cluster: a cmocka program per noun, added to check_PROGRAMS and TESTS
CLUSTER_TESTS = %D%/test_cluster %D%/test_cluster_faults %D%/test_cluster_files %D%/test_fallback %D%/test_schema %D%/test_settings %D%/test_variable
CLUSTER_TEST_LIBS = $(LIBS_CLUSTER) $(CMOCKA_LIBS)
if HAVE_CMOCKA
check_PROGRAMS += $(CLUSTER_TESTS)
TESTS += $(CLUSTER_TESTS)
endif
%C%_test_cluster_LDADD = $(CLUSTER_TEST_LIBS)
%C%_test_cluster_faults_LDADD = $(CLUSTER_TEST_LIBS)
%C%_test_cluster_files_LDADD = $(CLUSTER_TEST_LIBS)
%C%_test_fallback_LDADD = $(CLUSTER_TEST_LIBS)
%C%_test_schema_LDADD = $(CLUSTER_TEST_LIBS)
%C%_test_settings_LDADD = $(CLUSTER_TEST_LIBS)
%C%_test_variable_LDADD = $(CLUSTER_TEST_LIBS)
EXTRA_DIST += tests/data/cluster/by-memory.yaml tests/data/cluster/by-memory.expect \
	tests/data/cluster/much.yaml tests/data/cluster/much.expect \
	tests/data/cluster/placeholders.yaml tests/data/cluster/placeholders.expect \
	tests/data/cluster/reservations.yaml tests/data/cluster/reservations.expect \
	tests/data/cluster/same-column-lists.yaml tests/data/cluster/same-column-lists.expect \
	tests/data/cluster/six-faults.yaml tests/data/cluster/six-faults.expect \
	tests/data/cluster/static-mpi.yaml tests/data/cluster/static-mpi.expect \
	tests/data/cluster/template.yaml tests/data/cluster/template.expect \
	tests/data/cluster/two-types.yaml tests/data/cluster/two-types.expect \
	tests/data/cluster/quickstart.yaml tests/data/cluster/quickstart.expect tests/data/cluster/workshop.expect

# the command line, by its built program
TESTS += tests/cli/slurm-ec2.test tests/cli/command_lines.test
EXTRA_DIST += tests/cli/slurm-ec2.test tests/cli/command_lines.test
