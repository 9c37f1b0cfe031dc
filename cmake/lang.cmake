# SPDX-License-Identifier: Apache-2.0
# lang.cmake - puts the sentences of other languages, lang/NAME.po, into the program. A language is added by adding its file.

file(GLOB language_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/lang/*.po)
embed_texts(src/base/lang.c HEADWAY_LANGUAGES languages.inc ${language_files})
# Only the program chooses a language: the linker leaves the sentences out of libheadway.so, which never does.
set_property(SOURCE ${PROJECT_SOURCE_DIR}/src/base/lang.c APPEND PROPERTY COMPILE_OPTIONS -ffunction-sections -fdata-sections)
