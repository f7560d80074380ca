# IBM Z (Debian s390x): 64 bits, big-endian.
include(${CMAKE_CURRENT_LIST_DIR}/port.cmake)
deja_port(s390x s390x-linux-gnu qemu-s390x)
