noinst_LIBRARIES += %D%/libcluster.a
%C%_libcluster_a_SOURCES =
