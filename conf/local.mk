noinst_LIBRARIES += %D%/libconf.a
%C%_libconf_a_SOURCES =
