noinst_LIBRARIES += %D%/libaws.a
%C%_libaws_a_SOURCES =
