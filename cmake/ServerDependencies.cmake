# What `bitpool serve` needs besides that.
find_package(Boost 1.74 REQUIRED)
find_package(OpenSSL 3 REQUIRED)
find_package(ZLIB REQUIRED)
# What the program gives up its rights with.
pkg_check_modules(seccomp REQUIRED IMPORTED_TARGET libseccomp)
# The thread sanitizer does not know fences, which GCC warns of. Asio's handlers are ordered by its locks as well.
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=thread")
  set_property(TARGET Boost::headers APPEND PROPERTY INTERFACE_COMPILE_DEFINITIONS BOOST_ASIO_DISABLE_FENCED_BLOCK)
endif()
