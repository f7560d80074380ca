# Compiler warnings, sanitizers, instruction sets and optional libraries.

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wcast-qual -Wvla
  -Wstrict-prototypes -Wmissing-prototypes)
if(DEJA_WERROR)
  add_compile_options(-Werror)
endif()
if(CMAKE_SIZEOF_VOID_P EQUAL 4)
  # Files of more than 2 GB, and times after 2038.
  add_compile_definitions(_FILE_OFFSET_BITS=64 _TIME_BITS=64)
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^i[3-6]86$")
  # The older x87 unit computes with 80 bits, so sizes would differ from those of other CPUs.
  add_compile_options(-msse2 -mfpmath=sse)
endif()
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
  # Let the library inline its own public functions, as clang does by default.
  add_compile_options(-fno-semantic-interposition)
endif()

if(DEJA_PORTABLE_OS)
  add_compile_definitions(DEJA_PORTABLE_OS)
endif()
if(DEJA_FUZZ AND NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "DEJA_FUZZ needs clang: use the preset fuzz")
endif()
if(DEJA_SANITIZE)
  add_compile_options(-fsanitize=${DEJA_SANITIZE} -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${DEJA_SANITIZE})
endif()
if(DEJA_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
  # The formulas parse no input, and instrumenting them took 85% of the time.  The
  # sanitizer presets cover them.
  set_source_files_properties(src/core/math/rate.c PROPERTIES
    COMPILE_OPTIONS "-fno-sanitize=all;-O2")
endif()
if(DEJA_COVERAGE)
  # Atomic counters: concurrent threads would lose counts or make them negative.
  add_compile_options(--coverage -fprofile-update=atomic)
  add_link_options(--coverage)
endif()

# deja_simd_kernel(AVX2 CPUS FILES FLAG...): on one of these CPUs (a regular expression), compile
# FILES with these flags and define DJ_HAVE_AVX2 for the whole project; otherwise omit both and append
# FILES to simd_left_out.
macro(deja_simd_kernel name cpus files)
  set(flags ${ARGN})
  string(REPLACE ";" " " probe "${flags}")
  set(why "")
  if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(${cpus})$" OR NOT CMAKE_SIZEOF_VOID_P EQUAL 8)
    set(why another-cpu)
  elseif(flags)
    check_c_compiler_flag("${probe}" DEJA_COMPILER_HAS_${name})
    if(NOT DEJA_COMPILER_HAS_${name})
      set(why "the compiler lacks ${probe}")
    endif()
  endif()
  foreach(file ${files})
    if(why)
      list(APPEND simd_left_out ${PROJECT_SOURCE_DIR}/${file})
    else()
      set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS "${flags}")
    endif()
  endforeach()
  if(why STREQUAL another-cpu)
    # Nothing that this CPU could use is missing.
  elseif(why)
    deja_left_out("${name} kernels" "${why}")
  else()
    add_compile_definitions(DJ_HAVE_${name})
    if(flags)
      deja_built("${name} kernels" "chosen at run time")
    else()
      deja_built("${name} kernels" "part of every such CPU")
    endif()
  endif()
endmacro()

# deja_host_header(XXHASH xxhash.h): use this header of the machine that compiles, for another one.
# Its other headers stay out of sight.
# It is copied, because the other headers of its folder are not for the other machine.
function(deja_host_header name header)
  find_file(${name}_HEADER ${header} REQUIRED NO_CMAKE_FIND_ROOT_PATH
    PATHS /usr/include /usr/local/include)
  file(COPY ${${name}_HEADER} DESTINATION ${PROJECT_BINARY_DIR}/${name})
  set(${name}_INCLUDE_DIRS ${PROJECT_BINARY_DIR}/${name} PARENT_SCOPE)
endfunction()

# deja_optional(TARGET ZLIB zlib "gzip input" zlib1g-dev): link the library that pkg-config finds
# and define DEJA_HAVE_ZLIB, or report what is left out.
function(deja_optional target name module what package)
  if(NOT DEJA_LIBRARIES)
    deja_left_out("${what}" "DEJA_LIBRARIES is OFF")
    return()
  endif()
  pkg_check_modules(${name} IMPORTED_TARGET GLOBAL ${module})
  if(${name}_FOUND)
    target_link_libraries(${target} PUBLIC PkgConfig::${name})
    target_compile_definitions(${target} PUBLIC DEJA_HAVE_${name}) # public: tests use it
    deja_built("${what}" "${module} ${${name}_VERSION}")
  else()
    deja_left_out("${what}" "${module} not found (Debian: ${package})")
  endif()
endfunction()
