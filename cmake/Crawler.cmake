# Build the crawler if all of its libraries are installed.  Otherwise build only its names, so that
# the command can say what to install.
set(crawler_needs
  CURL libcurl libcurl4-openssl-dev
  CRYPTO libcrypto libssl-dev
  EXPAT expat libexpat1-dev
  GUMBO gumbo libgumbo-dev
  PSL libpsl libpsl-dev
  SQLITE sqlite3 libsqlite3-dev
  ZLIB zlib zlib1g-dev)
set(crawler_missing)
set(crawler_links)
while(crawler_needs)
  list(POP_FRONT crawler_needs name module package)
  if(DEJA_LIBRARIES)
    pkg_check_modules(${name} IMPORTED_TARGET GLOBAL ${module})
  endif()
  if(${name}_FOUND)
    list(APPEND crawler_links PkgConfig::${name})
  else()
    list(APPEND crawler_missing ${package})
  endif()
endwhile()

if(crawler_missing)
  list(JOIN crawler_missing " " crawler_missing)
  deja_left_out("deja crawl" "libraries not found (Debian: ${crawler_missing})")
  target_compile_definitions(dj_cli PRIVATE DEJA_CRAWLER_NEEDS="${crawler_missing}")
  target_sources(dj_cli PRIVATE crawler/loop/names.c)
else()
  file(GLOB_RECURSE crawler_sources CONFIGURE_DEPENDS crawler/*.c)
  target_sources(dj_cli PRIVATE ${crawler_sources})
  target_link_libraries(dj_cli PUBLIC ${crawler_links})
  target_compile_definitions(dj_cli PUBLIC DEJA_HAVE_CRAWLER)
  add_executable(queuecost EXCLUDE_FROM_ALL bench/queue/queuecost.c) # for bench/queue.sh
  target_link_libraries(queuecost PRIVATE dj_cli)
  deja_built("deja crawl" "libcurl ${CURL_VERSION}, gumbo ${GUMBO_VERSION}, SQLite ${SQLITE_VERSION}")
endif()
