noinst_LIBRARIES += %D%/libstate.a
%C%_libstate_a_SOURCES =
