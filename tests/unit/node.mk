# unit tests of node: a cmocka program per noun, added to check_PROGRAMS and TESTS
if HAVE_CMOCKA
node_tests = tests/unit/test_name tests/unit/test_nodeset tests/unit/test_node tests/unit/test_extra tests/unit/test_itype \
	tests/unit/test_generation tests/unit/test_map
check_PROGRAMS += $(node_tests)
TESTS += $(node_tests)
tests_unit_test_name_SOURCES = tests/unit/test_name.c tests/unit/cmocka_all.h
tests_unit_test_name_LDADD = $(LIBS_PURE) $(CMOCKA_LIBS)
tests_unit_test_map_SOURCES = tests/unit/test_map.c tests/unit/cmocka_all.h
tests_unit_test_map_LDADD = $(LIBS_PURE) $(CMOCKA_LIBS)
tests_unit_test_nodeset_SOURCES = tests/unit/test_nodeset.c
tests_unit_test_nodeset_LDADD = $(LIBS_PURE) $(CMOCKA_LIBS)
tests_unit_test_node_SOURCES = tests/unit/test_node.c
tests_unit_test_node_LDADD = $(LIBS_PURE) $(CMOCKA_LIBS)
tests_unit_test_extra_SOURCES = tests/unit/test_extra.c
tests_unit_test_extra_LDADD = $(LIBS_PURE) $(CMOCKA_LIBS)
tests_unit_test_itype_SOURCES = tests/unit/test_itype.c
tests_unit_test_itype_LDADD = $(LIBS_PURE) $(CMOCKA_LIBS)
tests_unit_test_generation_SOURCES = tests/unit/test_generation.c
tests_unit_test_generation_LDADD = $(LIBS_PURE) $(CMOCKA_LIBS)
endif
