# 32-bit ARM with an FPU (Debian armhf).
include(${CMAKE_CURRENT_LIST_DIR}/port.cmake)
deja_port(arm arm-linux-gnueabihf qemu-arm)
