/* cmd_stub.c - weak stand-ins for commands that are not there yet; each gives way to the real one. */
#include "cli/cli.h"

#define STUB(name)                                                                                 \
	__attribute__((weak)) int name(int argc, char **argv)                                      \
	{                                                                                          \
		(void)argc;                                                                        \
		(void)argv;                                                                        \
		cli_die("not yet");                                                                \
	}
STUB(cmd_stats)
STUB(cmd_breakdown)
STUB(cmd_info)
STUB(cmd_convert)
