# SE_FLAGS: warnings always; errors, sanitizers and hardening by option. The flags go to SE_CFLAGS and SE_LDFLAGS, so that a
# packager's own CFLAGS and LDFLAGS come last and win.
AC_DEFUN([SE_FLAGS], [
  SE_CFLAGS="-std=gnu11 -Wall -Wextra -Wformat=2 -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wwrite-strings -fno-common"
  SE_LDFLAGS=
  AS_IF([test "$enable_werror" = yes], [SE_CFLAGS="$SE_CFLAGS -Werror"])
  AS_IF([test "$enable_sanitizers" = yes], [
    SE_CFLAGS="$SE_CFLAGS -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined"
    SE_LDFLAGS="$SE_LDFLAGS -fsanitize=address,undefined"
    enable_hardening="no (sanitizers)"
  ])
  AS_IF([test "$enable_hardening" = yes], [
    SE_CFLAGS="$SE_CFLAGS -fstack-protector-strong -fstack-clash-protection -fPIE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2"
    SE_LDFLAGS="$SE_LDFLAGS -pie -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack -Wl,--as-needed"
    AC_COMPILE_IFELSE([AC_LANG_SOURCE([[#if !defined __OPTIMIZE__
#error no optimisation
#endif
int x;]])], [], [SE_CFLAGS=$(echo "$SE_CFLAGS" | $SED 's/ -D_FORTIFY_SOURCE=2//')])
  ])
  AC_SUBST([SE_CFLAGS])
  AC_SUBST([SE_LDFLAGS])
])
