# unit tests of conf: a cmocka program per noun, added to check_PROGRAMS and TESTS
if HAVE_CMOCKA
check_PROGRAMS += %D%/test_bootstrap
TESTS += %D%/test_bootstrap
%C%_test_bootstrap_SOURCES = %D%/test_bootstrap.c
%C%_test_bootstrap_LDADD = conf/libconf.a lib/node/libnode.a lib/cluster/libcluster.a lib/base/libbase.a $(YAML_LIBS) $(CMOCKA_LIBS) $(JSONC_LIBS)
endif
