/* SPDX-License-Identifier: Apache-2.0 */
/* built_page.c - puts the page into the binary: what the build made of web/, or a page that says
 * how to build it (cmake/web.cmake). */
#include "serve/server.h"

__asm__(".pushsection .rodata\n"
	".globl built_page\n"
	".hidden built_page\n"
	"built_page:\n"
	".incbin \"" HEADWAY_PAGE "\"\n"
	".globl built_page_end\n"
	".hidden built_page_end\n"
	"built_page_end:\n"
	".byte 0\n"
	".popsection\n");
