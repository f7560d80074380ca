# deja_test(FOLDER SOURCE): adds a C file as the test FOLDER.NAME with the label FOLDER.
# deja_script_test(NAME LABEL SCRIPT [ARG...]): adds a script, which runs in a scratch directory.

# The thread sanitizer of gcc 12 and clang 14 fails if the kernel uses more than 28 bits of mmap
# randomness.
set(test_launcher)
if(DEJA_SANITIZE MATCHES thread AND EXISTS /proc/sys/vm/mmap_rnd_bits)
  file(STRINGS /proc/sys/vm/mmap_rnd_bits rnd_bits)
  if(rnd_bits GREATER 28)
    set(test_launcher setarch -R)
  endif()
endif()

set(test_environment
  ASAN_OPTIONS=allocator_may_return_null=1:detect_stack_use_after_return=1:strict_string_checks=1
  UBSAN_OPTIONS=print_stacktrace=1
  TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1)

# Properties of all tests; the file name adds the labels `threads` and `long`.
function(deja_test_properties test folder name)
  set(labels ${folder})
  set(timeout 1800) # only a hang takes longer, even on a busy machine
  if(name MATCHES "threads")
    list(APPEND labels threads)
  endif()
  if(name MATCHES "_long$")
    list(APPEND labels long)
    set(timeout 7200)
  endif()
  set_tests_properties(${test} PROPERTIES LABELS "${labels}" TIMEOUT ${timeout}
    SKIP_RETURN_CODE 77 ENVIRONMENT "${test_environment};${ARGN}")
  set(labels ${labels} PARENT_SCOPE)
endfunction()

# Sets RESULT if a test includes a header of the crawler.
function(deja_needs_crawler source result)
  file(STRINGS ${source} includes REGEX "^#include \"crawler/")
  if(includes)
    set(${result} ON PARENT_SCOPE)
  else()
    set(${result} OFF PARENT_SCOPE)
  endif()
endfunction()

# Links the static libraries, so that a test gets only the objects that it uses.  A test that
# includes a header of a tool, directly or through tests/support, also gets those of the command.
function(deja_test_program target source)
  add_executable(${target} ${source} ${ARGN})
  target_include_directories(${target} PRIVATE
    ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests/support)
  target_compile_definitions(${target} PRIVATE _GNU_SOURCE
    DEJA_TEST_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
  file(STRINGS ${source} includes
    REGEX "^#include \"((tools|gen|bench|lab|cli|crawler)/|(catching|mutant|packed|reading)\\.h)")
  if(TARGET dj_cli AND includes)
    target_link_libraries(${target} PRIVATE dj_cli)
  endif()
  target_link_libraries(${target} PRIVATE deja_static)
  if(includes MATCHES "mutant\\.h") # it stands between the lab and these functions
    foreach(function deja_filter_new deja_filter_rotate deja_filter_hash_batch deja_plan_make
            lab_bloom_rate)
      target_link_options(${target} PRIVATE LINKER:--wrap=${function})
    endforeach()
  endif()
endfunction()

function(deja_test folder source)
  cmake_path(GET source STEM stem)
  string(REGEX REPLACE "^test_" "" name ${stem})
  set(test ${folder}.${name})
  deja_test_program(${test} ${source})
  target_link_libraries(${test} PRIVATE ${cmocka})
  # cmocka passes a state that most tests do not use.
  target_compile_options(${test} PRIVATE -Wno-unused-parameter -Wno-missing-field-initializers)
  if(CMAKE_SIZEOF_VOID_P EQUAL 4) # all test data is small enough for a size_t
    target_compile_options(${test} PRIVATE -Wno-conversion)
  endif()
  add_test(NAME ${test} COMMAND
    ${test_launcher} ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:${test}>)
  deja_test_properties(${test} ${folder} ${name})
  # Experiments are about chance, not about CPUs, and take minutes each under an emulator.
  if(CMAKE_CROSSCOMPILING AND source MATCHES "/unit/lab/")
    set_tests_properties(${test} PROPERTIES LABELS "${labels};long")
  endif()
  if("threads" IN_LIST labels)
    add_dependencies(tests-threads ${test})
  endif()
  # What the doors to the system may change.  (The preset has no tools, so it cannot compile tests
  # that include others of them.)
  file(STRINGS ${source} tools REGEX "^#include \"tools/")
  if(source MATCHES "/test_sys\\.c$" OR (source MATCHES "/(unit/src|fault)/" AND NOT tools))
    list(APPEND labels posix)
    set_tests_properties(${test} PROPERTIES LABELS "${labels}")
    add_dependencies(tests-posix ${test})
    if(source MATCHES "/test_sys\\.c$" AND NOT TARGET dj_cli)
      target_sources(${test} PRIVATE ${PROJECT_SOURCE_DIR}/tools/base/sys.c)
      target_include_directories(${test} PRIVATE ${PROJECT_SOURCE_DIR})
    endif()
  endif()
endfunction()

function(deja_script_test name label script)
  add_test(NAME ${name} COMMAND ${test_launcher}
    ${PROJECT_SOURCE_DIR}/tests/support/run-script ${script} ${ARGN})
  set(environment
    SOURCE=${PROJECT_SOURCE_DIR} BUILD=${PROJECT_BINARY_DIR}
    SUPPORT=${PROJECT_SOURCE_DIR}/tests/support
    CC=${CMAKE_C_COMPILER} LIBDEJA=$<TARGET_FILE:deja_shared>)
  if(TARGET deja_cli)
    list(APPEND environment DEJA=$<TARGET_FILE:deja_cli>)
  endif()
  deja_test_properties(${name} ${label} ${name} ${environment})
  if("threads" IN_LIST labels AND TARGET deja_cli)
    add_dependencies(tests-threads deja_cli)
  endif()
endfunction()
