/* SPDX-License-Identifier: Apache-2.0 */
/* doctor_test.c - the doctor's advice that depends on the distribution. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run/doctor/doctor.h"

static void the_library_of_the_viewer_has_the_package_name_of_the_distribution(void **state)
{
	(void)state;
	static const struct {
		const char *id, *like, *version, *remedy;
	} cases[] = {
		{"debian", "", "12", "sudo apt-get install libmicrohttpd12"},
		{"debian", "", "13", "sudo apt-get install libmicrohttpd12t64"},
		{"debian", "", "", "sudo apt-get install libmicrohttpd12t64"},
		{"ubuntu", "debian", "22.04", "sudo apt-get install libmicrohttpd12"},
		{"ubuntu", "debian", "24.04", "sudo apt-get install libmicrohttpd12t64"},
		{"linuxmint", "ubuntu debian", "22",
		 "sudo apt-get install libmicrohttpd12t64 (older: libmicrohttpd12)"},
		{"fedora", "", "41", "sudo dnf install libmicrohttpd"},
		{"rocky", "rhel centos fedora", "9.4", "sudo dnf install libmicrohttpd"},
		{"opensuse-leap", "suse opensuse", "15.6", "sudo zypper install libmicrohttpd12"},
		{"arch", "", "", "sudo pacman -S libmicrohttpd"},
		{"", "", "", "install GNU libmicrohttpd (libmicrohttpd.so.12)"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_string_equal(
			doctor_view_remedy(cases[i].id, cases[i].like, cases[i].version),
			cases[i].remedy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			the_library_of_the_viewer_has_the_package_name_of_the_distribution),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
