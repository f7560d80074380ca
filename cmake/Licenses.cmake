# Collects the licenses of everything that a distributed command contains, for
# `deja version --licenses`: deja itself, xxhash, whose functions are compiled in, and in a static
# command the C library.  DEJA_LIBC_LICENSE names the file with the license of the latter.
find_file(DEJA_XXHASH_TEXT xxhash.h NO_CMAKE_FIND_ROOT_PATH HINTS ${XXHASH_INCLUDE_DIRS} PATHS /usr/include)
if(NOT DEJA_XXHASH_TEXT)
  message(FATAL_ERROR "xxhash.h not found: its license must be shown by the command")
endif()
set(libc_license "")
if(DEJA_STATIC)
  find_file(DEJA_LIBC_LICENSE copyright NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH PATHS /usr/share/doc/musl-dev)
  if(NOT DEJA_LIBC_LICENSE)
    message(FATAL_ERROR "A static command contains the C library: give the file with its license, "
      "-D DEJA_LIBC_LICENSE=FILE")
  endif()
  set(libc_license ${DEJA_LIBC_LICENSE})
endif()
set(licenses ${PROJECT_BINARY_DIR}/licenses.c)
add_custom_command(OUTPUT ${licenses} VERBATIM
  DEPENDS LICENSE cmake/Embed.cmake cmake/LicenseTexts.cmake ${DEJA_XXHASH_TEXT} ${libc_license}
  COMMAND ${CMAKE_COMMAND} -D OUT=${PROJECT_BINARY_DIR}/licenses.txt -D DEJA=${PROJECT_SOURCE_DIR}/LICENSE
    -D XXHASH=${DEJA_XXHASH_TEXT} -D LIBC=${libc_license} -P ${PROJECT_SOURCE_DIR}/cmake/LicenseTexts.cmake
  COMMAND ${CMAKE_COMMAND} -D IN=${PROJECT_BINARY_DIR}/licenses.txt -D OUT=${licenses} -D NAME=about_licenses
    -D HEADER=cli/help/about.h -P ${PROJECT_SOURCE_DIR}/cmake/Embed.cmake)
