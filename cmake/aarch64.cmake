# Builds for 64-bit ARM on another Debian: its cross compiler, and the ARM packages unpacked in $BITPOOL_AARCH64_ROOT
# (scripts/test_aarch64 makes it).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(root $ENV{BITPOOL_AARCH64_ROOT})
set(triplet aarch64-linux-gnu)
set(CMAKE_C_COMPILER ${triplet}-gcc)
set(CMAKE_CXX_COMPILER ${triplet}-g++)
set(CMAKE_LIBRARY_ARCHITECTURE ${triplet})
set(CMAKE_FIND_ROOT_PATH ${root})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
# OpenBLAS lies where alternatives would lead to it on an installed system.
set(ENV{PKG_CONFIG_LIBDIR}
    ${root}/usr/lib/${triplet}/pkgconfig:${root}/usr/lib/${triplet}/openblas-pthread/pkgconfig:${root}/usr/share/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${root})
# The compiler brings a C library to link with; what other libraries need in turn is found in the root.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,-rpath-link,${root}/usr/lib/${triplet}:${root}/lib/${triplet}")
set(CMAKE_SHARED_LINKER_FLAGS_INIT ${CMAKE_EXE_LINKER_FLAGS_INIT})
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L ${root})
