# Libraries, header, find_package, pkg-config; the command with man pages and completion.
include(CMakePackageConfigHelpers)

install(TARGETS deja_shared deja_static EXPORT dejaTargets)
install(FILES include/deja.h TYPE INCLUDE)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/deja)
install(EXPORT dejaTargets NAMESPACE deja:: DESTINATION ${package_dir})
configure_package_config_file(cmake/dejaConfig.cmake.in ${PROJECT_BINARY_DIR}/dejaConfig.cmake
  INSTALL_DESTINATION ${package_dir})
# Before 1.0 a minor release may break its users.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/dejaConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/dejaConfig.cmake ${PROJECT_BINARY_DIR}/dejaConfigVersion.cmake
  DESTINATION ${package_dir})

# Written at install time, so that `cmake --install --prefix` gets its own prefix.
set(pc_prefix "@prefix@")
set(pc_libdir "\${prefix}")
cmake_path(APPEND pc_libdir ${CMAKE_INSTALL_LIBDIR}) # an absolute folder replaces the prefix
set(pc_includedir "\${prefix}")
cmake_path(APPEND pc_includedir ${CMAKE_INSTALL_INCLUDEDIR})
configure_file(cmake/deja.pc.in ${PROJECT_BINARY_DIR}/deja.pc.in @ONLY)
install(CODE "set(prefix \"\${CMAKE_INSTALL_PREFIX}\")
  configure_file(\"${PROJECT_BINARY_DIR}/deja.pc.in\" \"${PROJECT_BINARY_DIR}/deja.pc\" @ONLY)")
install(FILES ${PROJECT_BINARY_DIR}/deja.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(TARGET deja_cli)
  install(TARGETS deja_cli)

  # The option tables in the command are the only source of its manual.
  set(man_dir ${PROJECT_BINARY_DIR}/man)
  file(MAKE_DIRECTORY ${man_dir})
  set(made)
  foreach(command "" dedup build check add remove count info verify merge fold rotate plan url gen
          crawl bench)
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
  install(FILES ${made} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)

  set(completion ${PROJECT_BINARY_DIR}/completion/deja)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/completion)
  add_custom_command(OUTPUT ${completion} DEPENDS deja_cli VERBATIM
    COMMAND deja_cli help --completion bash > ${completion})
  install(FILES ${completion} DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)

  add_custom_target(man ALL DEPENDS ${made} ${completion})
  deja_built("man pages, bash completion" "")
endif()
