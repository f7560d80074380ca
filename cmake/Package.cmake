# Debian packages, one for each component of Install.cmake: cpack -G DEB --config
# build/release/CPackConfig.cmake -B DIR.  What a package needs is read off its files.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME deja)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS OFF)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "the deja authors <deja@localhost>")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)

# deja_package(COMPONENT NAME SECTION DEPENDS "one line" "what it is, in a few lines")
macro(deja_package component name section depends summary text)
  list(APPEND CPACK_COMPONENTS_ALL ${component})
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${depends}")
  # cpack takes the first line of a description for the summary.
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${summary}\n${text}")
endmacro()

deja_package(runtime libdeja${PROJECT_VERSION_MAJOR} libs "" "have I seen this URL before? (library)"
  "A library that remembers keys in about 10 bits each: Bloom filters and their kin.")
deja_package(dev libdeja-dev libdevel "libdeja${PROJECT_VERSION_MAJOR} (= ${PROJECT_VERSION}), libc6-dev"
  "have I seen this URL before? (development files)"
  "Header, static library, pkg-config and CMake files of libdeja.")
if(TARGET deja_cli)
  deja_package(tool deja utils "" "have I seen this URL before? (command)"
    "De-duplicates lines and URLs, keeps what was seen in small files, and tells what that costs.")
endif()
if(TARGET deja_redis)
  deja_package(redis deja-redis database "redis-server | valkey-server"
    "have I seen this URL before? (module for Redis and Valkey)"
    "Every BF command of RedisBloom, and DEJA commands for the other kinds of filters.")
endif()
include(CPack)
