# 64-bit RISC-V (Debian riscv64).
include(${CMAKE_CURRENT_LIST_DIR}/port.cmake)
deja_port(riscv64 riscv64-linux-gnu qemu-riscv64)
