noinst_LIBRARIES += %D%/libnode.a
%C%_libnode_a_SOURCES =
