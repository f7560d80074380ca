# 64-bit ARM (Debian arm64), with the NEON kernels.
include(${CMAKE_CURRENT_LIST_DIR}/port.cmake)
deja_port(aarch64 aarch64-linux-gnu qemu-aarch64)
