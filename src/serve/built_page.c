/* built_page.c - the page inside the binary: web/ as the build made it, or a few lines that say how to (cmake/web.cmake).
 */
#include "serve/server.h"

__asm__(".pushsection .rodata\n"
	".globl view_page\n"
	".hidden view_page\n"
	"view_page:\n"
	".incbin \"" HEADWAY_PAGE "\"\n"
	".globl view_page_end\n"
	".hidden view_page_end\n"
	"view_page_end:\n"
	".byte 0\n"
	".popsection\n");
