# SPDX-License-Identifier: Apache-2.0
# web.cmake - the page of `headway view`, built by esbuild where web/node_modules is there (npm --prefix web ci), else
# a page that says so. Sets the definition HEADWAY_PAGE for src/serve/built_page.c.

set(page ${PROJECT_BINARY_DIR}/web/page.html)
find_program(NPM npm)
mark_as_advanced(NPM)
file(GLOB_RECURSE web_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/web/src/*)
# npm writes this file last. Looked for at every build: a build that was configured before `npm ci` gets its page by the next make.
file(GLOB web_tools CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/web/node_modules/.package-lock.json)
if(NPM AND web_sources AND web_tools)
	add_custom_command(OUTPUT ${page}
		COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/web
		COMMAND ${NPM} --prefix ${PROJECT_SOURCE_DIR}/web run --silent build -- ${page}
		DEPENDS ${web_sources} ${PROJECT_SOURCE_DIR}/web/package.json
		COMMENT "Building the page" VERBATIM)
	summary_line("page" "built by esbuild")
else()
	add_custom_command(OUTPUT ${page}
		COMMAND ${CMAKE_COMMAND} -E copy ${PROJECT_SOURCE_DIR}/web/fallback.html ${page}
		DEPENDS ${PROJECT_SOURCE_DIR}/web/fallback.html VERBATIM)
	summary_line("page" "left out: no web/node_modules (npm --prefix web ci)")
endif()
add_custom_target(headway_page DEPENDS ${page})
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/serve/built_page.c PROPERTIES
	COMPILE_DEFINITIONS "HEADWAY_PAGE=\"${page}\""
	OBJECT_DEPENDS ${page})
