# Debian's cross compiler with Debian's arm64 libraries unpacked into a folder (build.sh makes it).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TAGFERRY_SYSROOT)
set(libraries ${TAGFERRY_SYSROOT}/usr/lib/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH ${TAGFERRY_SYSROOT} /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} ${libraries}/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${TAGFERRY_SYSROOT})

# The compiler brings libc and libstdc++ of its own; everything else is in the sysroot.
add_compile_options(
    "SHELL:-isystem ${TAGFERRY_SYSROOT}/usr/include"
    "SHELL:-isystem ${TAGFERRY_SYSROOT}/usr/include/aarch64-linux-gnu")
set(CMAKE_EXE_LINKER_FLAGS_INIT
    "-L${libraries} -Wl,-rpath-link,${libraries} -Wl,-rpath-link,${TAGFERRY_SYSROOT}/lib/aarch64-linux-gnu")
set(CMAKE_CROSSCOMPILING_EMULATOR
    "qemu-aarch64-static;-L;/usr/aarch64-linux-gnu;-E;LD_LIBRARY_PATH=${libraries}:${TAGFERRY_SYSROOT}/lib/aarch64-linux-gnu:/usr/aarch64-linux-gnu/lib")
