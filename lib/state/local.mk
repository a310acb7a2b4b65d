noinst_LIBRARIES += %D%/libstate.a
%C%_libstate_a_SOURCES = %D%/sql.c %D%/sql.h %D%/store.h %D%/store_binding.c %D%/store_event.c %D%/store_failure.c %D%/store_launch.c %D%/store_meta.c \
	%D%/store_open.c %D%/store_shortage.c %D%/store_word.c
