# Debian packages, one per component of Install.cmake, and the Python package:
#   cpack -G DEB --config build/release/CPackConfig.cmake -B DIR
# dpkg-shlibdeps finds the libraries that a package depends on.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME deja)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # cpack would prepend it to those of the packages
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS OFF)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "the deja authors <deja@localhost>")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

# deja_package(COMPONENT NAME SECTION DEPENDS "summary" "description")
# Rules with EXCLUDE_FROM_ALL add files to packages that `cmake --install` omits.
macro(deja_package component name section depends summary text)
  list(APPEND CPACK_COMPONENTS_ALL ${component})
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${depends}")
  # cpack uses the first line of a description as the summary.
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${summary}\n${text}")
  install(FILES LICENSE DESTINATION share/doc/${name} RENAME copyright COMPONENT ${component}
    EXCLUDE_FROM_ALL)
endmacro()

deja_package(runtime libdeja${deja_abi} libs "" "have I seen this URL before? (library)"
  "A library that remembers keys in about 10 bits each: Bloom filters and related structures.")
set(dev_depends "libdeja${deja_abi} (= ${PROJECT_VERSION}), libc6-dev")
if(IDN2_LINK) # deja.pc requires libidn2.pc; a static program also needs libunistring.a
  string(APPEND dev_depends ", libidn2-dev, libunistring-dev")
endif()
deja_package(dev libdeja-dev libdevel "${dev_depends}"
  "have I seen this URL before? (development files)"
  "Header, static library, pkg-config and CMake files of libdeja.")
if(TARGET deja_cli)
  deja_package(tool deja utils "" "have I seen this URL before? (command)"
    "Removes duplicate lines and URLs, remembers them in small files, and reports the cost.")
endif()
if(TARGET deja_redis)
  deja_package(redis deja-redis database "redis-server | valkey-server"
    "have I seen this URL before? (module for Redis and Valkey)"
    "Every BF command of RedisBloom, and DEJA commands for the other kinds of filters.")
endif()

# --- python3-deja ---------------------------------------------------------

# For Debian's Python 3 of any version; for others, use pip (docs/python.md).
deja_package(python python3-deja python
  "libdeja${deja_abi} (= ${PROJECT_VERSION}), python3 (>= 3.9)"
  "have I seen this URL before? (Python)"
  "Bloom filters and related structures for Python, and a duplicate filter for Scrapy.")
set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS "python3-scrapy, python3-redis")
set(python_dir lib/python3/dist-packages)
if(TARGET deja_python)
  install(TARGETS deja_python LIBRARY DESTINATION ${python_dir}/deja COMPONENT python EXCLUDE_FROM_ALL)
else()
  set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
endif()
install(DIRECTORY python/deja DESTINATION ${python_dir} COMPONENT python EXCLUDE_FROM_ALL
  FILES_MATCHING PATTERN *.py PATTERN py.typed PATTERN __pycache__ EXCLUDE)
install(DIRECTORY python/examples DESTINATION share/doc/python3-deja COMPONENT python
  EXCLUDE_FROM_ALL FILES_MATCHING PATTERN *.py PATTERN __pycache__ EXCLUDE)

# `pip list` and importlib.metadata read this file.
file(STRINGS python/pyproject.toml python_summary REGEX "^description = ")
string(REGEX REPLACE "^description = \"(.*)\"$" "\\1" python_summary "${python_summary}")
set(python_metadata ${PROJECT_BINARY_DIR}/deja-${PROJECT_VERSION}.dist-info/METADATA)
file(CONFIGURE OUTPUT ${python_metadata} @ONLY CONTENT
  "Metadata-Version: 2.1\nName: deja\nVersion: @PROJECT_VERSION@\nSummary: @python_summary@\n")
install(FILES ${python_metadata} DESTINATION ${python_dir}/deja-${PROJECT_VERSION}.dist-info
  COMPONENT python EXCLUDE_FROM_ALL)

# Compile and remove byte code with the package; otherwise files of root's first import remain.
set(python_control ${PROJECT_BINARY_DIR}/python3-deja)
file(CONFIGURE OUTPUT ${python_control}/postinst CONTENT
  "#!/bin/sh\nset -e\n[ \"$1\" != configure ] || py3compile -p python3-deja\n")
file(CONFIGURE OUTPUT ${python_control}/prerm CONTENT
  "#!/bin/sh\nset -e\npy3clean -p python3-deja\n")
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA ${python_control}/postinst ${python_control}/prerm)

include(CPack)
