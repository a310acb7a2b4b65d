# SE_SLURM: find libslurm and its version. Debian ships no pkg-config file, so this is a compile and link test.
AC_DEFUN([SE_SLURM], [
  SLURM_CPPFLAGS= SLURM_LDFLAGS= SLURM_LIBS=-lslurm
  AS_IF([test -n "$with_slurm"], [
    AS_IF([test ! -f "$with_slurm/include/slurm/slurm.h"], [AC_MSG_ERROR([--with-slurm=$with_slurm: there is no include/slurm/slurm.h in it])])
    SLURM_CPPFLAGS="-I$with_slurm/include"
    for se_dir in lib lib64; do
      AS_IF([test -e "$with_slurm/$se_dir/libslurm.so"],
        [SLURM_LDFLAGS="-L$with_slurm/$se_dir -Wl,-rpath,$with_slurm/$se_dir"])
    done
    AS_IF([test -z "$SLURM_LDFLAGS"], [AC_MSG_ERROR([--with-slurm=$with_slurm: there is no libslurm.so in its lib or lib64])])
  ])
  se_cppflags=$CPPFLAGS se_ldflags=$LDFLAGS se_libs=$LIBS
  CPPFLAGS="$CPPFLAGS $SLURM_CPPFLAGS" LDFLAGS="$LDFLAGS $SLURM_LDFLAGS" LIBS="$SLURM_LIBS $LIBS"
  AC_CHECK_HEADER([slurm/slurm.h], [],
    [AC_MSG_ERROR([slurm/slurm.h not found: install libslurm-dev (Debian) or slurm-devel (RHEL), or give --with-slurm=DIR])])
  AC_CHECK_FUNC([slurm_load_node_single], [],
    [AC_MSG_ERROR([libslurm not found or older than 21.08: install libslurm-dev, or give --with-slurm=DIR])])
  AC_COMPUTE_INT([se_slurm_number], [SLURM_VERSION_NUMBER], [#include <slurm/slurm.h>])
  CPPFLAGS=$se_cppflags LDFLAGS=$se_ldflags LIBS=$se_libs
  se_major=$(( se_slurm_number >> 16 & 255 )) se_minor=$(( se_slurm_number >> 8 & 255 )) se_micro=$(( se_slurm_number & 255 ))
  SE_SLURM_VERSION=$(printf '%02d.%02d.%d' $se_major $se_minor $se_micro)
  AS_IF([test "$se_slurm_number" -lt $(( (22 << 16) + (5 << 8) ))],
    [AC_MSG_ERROR([Slurm $SE_SLURM_VERSION is too old: 22.05 or newer is needed])])
  AC_SUBST([SLURM_CPPFLAGS])
  AC_SUBST([SLURM_LDFLAGS])
  AC_SUBST([SLURM_LIBS])
  AC_SUBST([SE_SLURM_VERSION])
])
