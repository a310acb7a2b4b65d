noinst_LIBRARIES += %D%/libapply.a
%C%_libapply_a_SOURCES =
