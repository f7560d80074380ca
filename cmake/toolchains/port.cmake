# port.cmake - what all ports share: deja_port(CPU TRIPLET EMULATOR), called by each toolchain file.
#
# Programs run under qemu-user, with the C library of the cross compiler.  Libraries of this machine
# are of no use, so nothing but the C library and headers without a library are found.
macro(deja_port cpu triplet emulator)
  set(CMAKE_SYSTEM_NAME Linux)
  set(CMAKE_SYSTEM_PROCESSOR ${cpu})
  set(CMAKE_C_COMPILER ${triplet}-gcc)
  set(CMAKE_CROSSCOMPILING_EMULATOR "${emulator};-L;/usr/${triplet}")
  set(CMAKE_FIND_ROOT_PATH /usr/${triplet})
  set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
  set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
  set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
  set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
  set(ENV{PKG_CONFIG_LIBDIR} /usr/${triplet}/lib/pkgconfig)
endmacro()
