noinst_LIBRARIES += %D%/libbase.a
%C%_libbase_a_SOURCES =
