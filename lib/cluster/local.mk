noinst_LIBRARIES += %D%/libcluster.a
%C%_libcluster_a_SOURCES = \
	%D%/check.c %D%/check.h %D%/cluster.c %D%/cluster.h %D%/custom.c %D%/custom.h %D%/document.c %D%/document.h \
	%D%/fallback.c %D%/fallback.h %D%/filled.c %D%/filled.h \
	%D%/generation.c %D%/generation.h %D%/load.c %D%/load.h %D%/parse.c %D%/reader.c %D%/reader.h %D%/rule.c %D%/rule.h \
	%D%/scalar.c %D%/scalar.h %D%/schema.c %D%/schema.h %D%/schema_known.c %D%/settings.c %D%/settings.h \
	%D%/variable.c %D%/variable.h
