# SPDX-License-Identifier: Apache-2.0
# questions.cmake - puts the ready questions of sql/ into the program, as a list of C strings, and installs them.
# Sets the definition HEADWAY_QUESTIONS for src/sql/questions.c.

set(questions ${PROJECT_BINARY_DIR}/questions.inc)
file(GLOB question_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/sql/*.sql)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${question_files})
set(question_list "")
foreach(file IN LISTS question_files)
	get_filename_component(name ${file} NAME_WE)
	file(READ ${file} text)
	string(REPLACE "\\" "\\\\" text "${text}")
	string(REPLACE "\"" "\\\"" text "${text}")
	string(REPLACE "\n" "\\n\"\n\t\"" text "${text}")
	string(APPEND question_list "{\"${name}\",\n\t\"${text}\"},\n")
endforeach()
file(CONFIGURE OUTPUT ${questions} CONTENT "@question_list@" @ONLY)
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/sql/questions.c PROPERTIES
	COMPILE_DEFINITIONS "HEADWAY_QUESTIONS=\"${questions}\""
	OBJECT_DEPENDS ${questions})
install(FILES ${question_files} DESTINATION ${CMAKE_INSTALL_DATADIR}/headway/sql)
