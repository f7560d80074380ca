# Installs the libraries, the header, find_package and pkg-config files, and the command with man
# pages and completion.  Each component becomes a package (Package.cmake):
#   runtime   the shared library
#   dev       header, static library and build files for C programs
#   tool      the command
#   redis     the module for Redis and Valkey
include(CMakePackageConfigHelpers)

install(TARGETS deja_shared EXPORT dejaTargets
  LIBRARY COMPONENT runtime NAMELINK_COMPONENT dev)
install(TARGETS deja_static EXPORT dejaTargets ARCHIVE COMPONENT dev)
install(FILES include/deja.h TYPE INCLUDE COMPONENT dev)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/deja)
install(EXPORT dejaTargets NAMESPACE deja:: DESTINATION ${package_dir} COMPONENT dev)
configure_package_config_file(cmake/dejaConfig.cmake.in ${PROJECT_BINARY_DIR}/dejaConfig.cmake
  INSTALL_DESTINATION ${package_dir})
# Before 1.0, a minor release may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/dejaConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/dejaConfig.cmake ${PROJECT_BINARY_DIR}/dejaConfigVersion.cmake
  DESTINATION ${package_dir} COMPONENT dev)

# Written at install time, because `cmake --install --prefix` chooses the prefix.
set(pc_prefix "@prefix@")
set(pc_libdir "\${prefix}")
cmake_path(APPEND pc_libdir ${CMAKE_INSTALL_LIBDIR}) # an absolute path replaces the prefix
set(pc_includedir "\${prefix}")
cmake_path(APPEND pc_includedir ${CMAKE_INSTALL_INCLUDEDIR})
configure_file(cmake/deja.pc.in ${PROJECT_BINARY_DIR}/deja.pc.in @ONLY)
install(CODE "set(prefix \"\${CMAKE_INSTALL_PREFIX}\")
  configure_file(\"${PROJECT_BINARY_DIR}/deja.pc.in\" \"${PROJECT_BINARY_DIR}/deja.pc\" @ONLY)"
  COMPONENT dev)
install(FILES ${PROJECT_BINARY_DIR}/deja.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
  COMPONENT dev)

# For programs and for the Go package that use the library of this build: PKG_CONFIG_PATH=build/dev.
# pkg-config prefers a file with this name.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/deja-uninstalled.pc @ONLY CONTENT
"Name: deja
Description: @PROJECT_DESCRIPTION@
Version: @PROJECT_VERSION@
Cflags: -I@PROJECT_SOURCE_DIR@/include
Libs: -L@PROJECT_BINARY_DIR@ -ldeja -Wl,-rpath,@PROJECT_BINARY_DIR@
")

# The library's man pages are generated from the header.
if(Python3_Interpreter_FOUND)
  set(api_dir ${PROJECT_BINARY_DIR}/man3)
  add_custom_command(OUTPUT ${api_dir}/deja.3 VERBATIM
    DEPENDS cmake/apiman.py include/deja.h
    COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/cmake/apiman.py
      ${PROJECT_SOURCE_DIR}/include/deja.h ${api_dir})
  add_custom_target(man3 ALL DEPENDS ${api_dir}/deja.3)
  install(DIRECTORY ${api_dir}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man3 COMPONENT dev)
  deja_built("man pages of the library" "")
else()
  deja_left_out("man pages of the library" "no python3")
endif()

if(TARGET deja_redis)
  # Redis 7 loads only executable modules; CMake on Debian installs libraries without that bit.
  install(TARGETS deja_redis LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/deja COMPONENT redis
    PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
endif()

if(TARGET deja_cli)
  install(TARGETS deja_cli COMPONENT tool)

  # The command generates its man pages from its option tables.
  set(man_dir ${PROJECT_BINARY_DIR}/man)
  file(MAKE_DIRECTORY ${man_dir})
  set(made)
  foreach(command "" dedup build check add remove count info verify merge diff fold rotate expire plan url gen
          crawl bench lab serve)
    set(page deja)
    set(name deja)
    if(command)
      set(page deja-${command})
      set(name ${command})
    endif()
    add_custom_command(OUTPUT ${man_dir}/${page}.1 DEPENDS deja_cli VERBATIM
      COMMAND deja_cli help --man ${name} > ${man_dir}/${page}.1)
    list(APPEND made ${man_dir}/${page}.1)
  endforeach()
  install(FILES ${made} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tool)

  # The directory and the file name in which each shell searches for completions.
  foreach(place bash:bash-completion/completions/deja zsh:zsh/site-functions/_deja
          fish:fish/vendor_completions.d/deja.fish)
    string(REGEX MATCH "^([a-z]+):(.*)/([^/]+)$" place ${place})
    set(shell ${CMAKE_MATCH_1})
    set(folder ${CMAKE_MATCH_2})
    set(script ${PROJECT_BINARY_DIR}/completion/${CMAKE_MATCH_3})
    file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/completion)
    add_custom_command(OUTPUT ${script} DEPENDS deja_cli VERBATIM
      COMMAND deja_cli help --completion ${shell} > ${script})
    install(FILES ${script} DESTINATION ${CMAKE_INSTALL_DATADIR}/${folder} COMPONENT tool)
    list(APPEND made ${script})
  endforeach()

  add_custom_target(man ALL DEPENDS ${made})
  deja_built("man pages; completion for bash, zsh, fish" "")
endif()

include(cmake/Package.cmake)
