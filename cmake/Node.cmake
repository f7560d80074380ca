# The addon of the npm package: one file with the library inside, for every Node.js from 18 on.
# Node-API is stable, so the headers of any version do: those beside `node`, or DEJA_NODE_HEADERS.
set(addon_missing "")
if(NOT DEJA_NODE)
  set(addon_missing "DEJA_NODE is OFF")
elseif(DEJA_SANITIZE OR DEJA_FUZZ)
  set(addon_missing "Node.js lacks the sanitizer's runtime")
else()
  find_program(NODE_PROGRAM NAMES node nodejs)
  set(node_hints)
  if(NODE_PROGRAM)
    execute_process(COMMAND ${NODE_PROGRAM} -p process.execPath OUTPUT_VARIABLE node_path
      OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    cmake_path(GET node_path PARENT_PATH node_path)
    list(APPEND node_hints ${node_path}/../include/node)
  endif()
  find_path(DEJA_NODE_HEADERS node_api.h HINTS ${node_hints} PATH_SUFFIXES node nodejs/src
    DOC "folder of node_api.h")
  if(NOT DEJA_NODE_HEADERS)
    set(addon_missing "no node_api.h (Debian: libnode-dev)")
  endif()
endif()
if(addon_missing)
  deja_left_out("addon of the npm package" "${addon_missing}")
else()
  file(GLOB addon_sources CONFIGURE_DEPENDS node/src/*.c)
  add_library(deja_node MODULE ${addon_sources})
  set_target_properties(deja_node PROPERTIES PREFIX "" OUTPUT_NAME deja SUFFIX .node
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/node)
  target_include_directories(deja_node SYSTEM PRIVATE ${DEJA_NODE_HEADERS})
  target_link_libraries(deja_node PRIVATE deja_static)
  # Node.js looks up these two; a program that links libdeja itself must not meet ours.
  set(addon_map ${PROJECT_BINARY_DIR}/addon.map)
  file(CONFIGURE OUTPUT ${addon_map} CONTENT
    "{\n  global:\n    napi_register_module_v1;\n    node_api_module_get_api_version_v1;\n  local:\n    *;\n};\n")
  target_link_options(deja_node PRIVATE -Wl,--version-script=${addon_map})
  deja_built("addon of the npm package" "node/deja.node")
endif()
