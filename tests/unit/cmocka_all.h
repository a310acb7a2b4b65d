/* cmocka_all.h - cmocka with the headers it wants before it. */
#ifndef SE_TESTS_CMOCKA_ALL_H
#define SE_TESTS_CMOCKA_ALL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
