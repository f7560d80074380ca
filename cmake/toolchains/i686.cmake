# 32-bit x86 (Debian i386).
include(${CMAKE_CURRENT_LIST_DIR}/port.cmake)
deja_port(i686 i686-linux-gnu qemu-i386)
