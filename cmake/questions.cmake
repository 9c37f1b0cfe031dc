# SPDX-License-Identifier: Apache-2.0
# questions.cmake - puts the ready questions of sql/ into the program, and installs them.

file(GLOB question_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/sql/*.sql)
embed_texts(src/sql/questions.c HEADWAY_QUESTIONS questions.inc ${question_files})
install(FILES ${question_files} DESTINATION ${CMAKE_INSTALL_DATADIR}/headway/sql)
