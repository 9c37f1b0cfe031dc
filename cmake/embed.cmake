# SPDX-License-Identifier: Apache-2.0
# embed.cmake - puts text files into the program as a list of C strings, {"NAME", "TEXT"} each.

# embed_texts(SOURCE DEFINITION LIST FILES...): SOURCE includes the list by the name that DEFINITION stands for; the list is written to LIST
# in the build folder. A file that changes, comes or goes makes the list anew.
function(embed_texts source definition list)
	set(path ${PROJECT_BINARY_DIR}/${list})
	set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ARGN})
	set(texts "")
	foreach(file IN LISTS ARGN)
		get_filename_component(name ${file} NAME_WE)
		file(READ ${file} text)
		string(REPLACE "\\" "\\\\" text "${text}")
		string(REPLACE "\"" "\\\"" text "${text}")
		string(REPLACE "\n" "\\n\"\n\t\"" text "${text}")
		string(APPEND texts "{\"${name}\",\n\t\"${text}\"},\n")
	endforeach()
	file(CONFIGURE OUTPUT ${path} CONTENT "@texts@" @ONLY)
	set_source_files_properties(${PROJECT_SOURCE_DIR}/${source} PROPERTIES
		COMPILE_DEFINITIONS "${definition}=\"${path}\""
		OBJECT_DEPENDS ${path})
endfunction()
