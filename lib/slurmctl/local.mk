noinst_LIBRARIES += %D%/libslurmctl.a
%C%_libslurmctl_a_SOURCES =
