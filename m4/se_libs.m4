# SE_LIBS: the libraries we stand on. Each error names the Debian and the RHEL package.
AC_DEFUN([SE_PKG], [
  PKG_CHECK_MODULES([$1], [$2], [$1_VERSION_FOUND=$($PKG_CONFIG --modversion $3)],
    [AC_MSG_ERROR([$3 not found: install $4 (Debian) or $5 (RHEL)])])
  AC_SUBST([$1_VERSION_FOUND])
])
AC_DEFUN([SE_LIBS], [
  SE_PKG([CURL], [libcurl >= 7.61], [libcurl], [libcurl4-openssl-dev], [libcurl-devel])
  SE_PKG([OPENSSL], [libcrypto >= 1.1.1 libssl], [libcrypto], [libssl-dev], [openssl-devel])
  SE_PKG([EXPAT], [expat >= 2.2], [expat], [libexpat1-dev], [expat-devel])
  SE_PKG([JSONC], [json-c >= 0.13], [json-c], [libjson-c-dev], [json-c-devel])
  SE_PKG([YAML], [yaml-0.1], [yaml-0.1], [libyaml-dev], [libyaml-devel])
  SE_PKG([SQLITE], [sqlite3 >= 3.26], [sqlite3], [libsqlite3-dev], [sqlite-devel])
  SE_PKG([MICROHTTPD], [libmicrohttpd >= 0.9.59], [libmicrohttpd], [libmicrohttpd-dev], [libmicrohttpd-devel])
  PKG_CHECK_MODULES([CMOCKA], [cmocka >= 1.1.2], [have_cmocka=yes], [have_cmocka=no])
  AM_CONDITIONAL([HAVE_CMOCKA], [test "$have_cmocka" = yes])
])
